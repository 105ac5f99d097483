/*
 * loans.h - rings that are somebody's, while workloads have them.
 *
 * A live ring is given back as full as it was. Several workloads of one
 * measurement may have the same one, and one of them can leave elements in it
 * from batch to batch: these are its own, and go back to its account when
 * another has a batch. The functions are for the thread that measures, while no
 * role runs.
 */
#ifndef CB_WORKLOAD_LOANS_H
#define CB_WORKLOAD_LOANS_H

#include "ring/ring.h"

struct ring_loan {
  struct ring_loan *next;
  struct cb_ring *ring; /* NULL: nothing is lent */
  const struct cb_control *control;
  cb_ring_drop *back; /* gets what the workload has left in the ring */
  void *context;
  bool holds;     /* what is in the ring is this workload's */
  uint64_t *kept; /* what was in it beforehand */
  uint64_t kept_count;
};

/* 0, or -EPIPE with the sentence where the ring is broken. */
int cb_ring_usable(const struct cb_ring *ring, struct cb_error *error);

/* Takes the ring over from its owner, empty. back may be NULL: what is left is
 * forgotten. -ENOMEM with the sentence, -EPIPE when it is broken. */
int cb_ring_borrow(struct ring_loan *loan, struct cb_ring *ring,
                   const struct cb_control *control, cb_ring_drop *back,
                   void *context, struct cb_error *error);

/* From now on the ring is this workload's: before a batch, and before the look
 * at what is left. Nothing is done where it already is, or nothing is lent.
 * -EPIPE when another has broken it. */
int cb_ring_claim(struct ring_loan *loan, struct cb_error *error);

/* Gives the ring back with what was in it, unless it is broken: in a broken
 * ring the next wait would have no end. */
void cb_ring_return(struct ring_loan *loan);

/* Forgets a loan that was not given back, on any thread: of a run that was left
 * by force nothing is touched any more. */
void cb_ring_forget(struct ring_loan *loan);

#endif
