/*
 * pipeline.h - the workload `pipeline`: items from a source through rings,
 * services, coroutines and devices to a sink.
 *
 * Rings cut the chain of stages into sections. A section is what one thread
 * does with an item without putting it down; the thread that runs it is that
 * of the source, or a service lcore where the section begins with a service
 * that has some. What a thread has of a section is a lane, and what a lane has
 * of a stage is a node: items are pushed from node to node in bursts, and a
 * node where items wait (at a ring, in a coroutine, for a device) is polled
 * once in each turn of its lane.
 *
 * An item is a number from 1 on, an index into the table of all items that can
 * be in flight, which is how rings carry it. So whatever a broken part makes of
 * it, it can be looked at safely, and what comes out twice, or was never put
 * in, is found.
 *
 * Memory: an item belongs to the thread that has its number; a ring hands both
 * over. A sink on another thread than the source gives the numbers back through
 * an array of its own, which one publishes and the other reads.
 */
#ifndef CB_WORKLOAD_PIPELINE_H
#define CB_WORKLOAD_PIPELINE_H

#include "base/cpu.h"
#include "cbench.h"
#include "measure/histogram.h"
#include "ring/ring.h"
#include "service/service.h"

enum {
  PIPELINE_STAGES_MAX = 32,
  PIPELINE_LCORES_MAX = 64,
  PIPELINE_DEPTH_MAX = 65536,
  PIPELINE_BURST_MAX = CB_RING_BURST_MAX
};

struct pipeline;
struct section;
struct stage;
struct lane;

struct pipeline_item {
  uint64_t number; /* in the order of their starts, from 0 */
  uint64_t due;    /* open loop: the tick at which it was meant to start */
  uint32_t way;    /* by which lcores it came: in each the order is kept */
  uint32_t in_flight;
};

/* A stage as one lane has it; the first member of what the stage keeps. */
struct node {
  /* Takes n items, 1 to PIPELINE_BURST_MAX, from the node before. NULL: it
   * begins a section. */
  void (*push)(struct node *node, const uint64_t *items, uint32_t n);
  /* Moves on what may; was there anything? NULL: nothing waits here. */
  bool (*poll)(struct node *node);
  void (*reset)(struct node *node);   /* as it was when it was made */
  void (*release)(struct node *node); /* frees all but the node itself */
  struct node *next;
  struct lane *lane;
  struct stage *stage;
};

/* What a thread has of a section. */
struct lane {
  _Alignas(CB_APART) struct section *section;
  struct node *first;
  unsigned number;        /* of the lcore, within the section */
  struct cb_lcore *lcore; /* while the role runs */
  uint64_t batches;       /* begun by its thread */
  uint64_t busy;          /* turns in which there was work */
  uint64_t items;         /* taken from the ring, or started */
  uint64_t calls;         /* of its service, as the callback counts them */
  uint64_t runs;          /* the same, as the caller does (application lcore) */
  uint64_t called;        /* the same, as the lcore did */
};

struct section {
  struct pipeline *pipeline;
  unsigned stages[2]; /* behind ring or source: the first, one past the last */
  struct stage *ring; /* that it begins with, or NULL: the source */
  struct stage *service;   /* or NULL */
  unsigned lcores;         /* 0: the source's thread runs it */
  bool one_by_one;         /* only one lcore at a time is inside */
  struct cb_services *set; /* of the service, while it is set up */
  uint64_t id;
  struct lane *lanes; /* one for each lcore, or one */
  unsigned lane_count;
};

/* A kind of the family "stage". */
struct stage_kind {
  struct cb_kind kind;
  /* Checks what the stage needs of those before it, reads its options, and
   * makes what all threads share. */
  int (*plan)(struct stage *stage, const struct cb_spec *spec,
              struct cb_error *error);
  void (*forget)(struct stage *stage);
  /* Its node in a lane that it ends or stands in, and in one that it begins.
   * NULL: has none there. */
  struct node *(*take)(struct stage *stage, struct lane *lane);
  struct node *(*give)(struct stage *stage, struct lane *lane);
  int (*setup)(struct stage *stage, struct cb_error *error);
  int (*prepare)(struct stage *stage, struct cb_error *error);
  void (*teardown)(struct stage *stage);
  int (*check)(struct stage *stage, struct cb_error *error);
};

struct stage {
  const struct stage_kind *kind;
  unsigned number; /* from 1, as people count */
  struct pipeline *pipeline;
  struct section *section; /* that it stands in; of a ring: that it ends */
  bool absorbed;           /* part of another: has no nodes */
  void *data;              /* the kind's */
};

struct pipeline {
  struct stage stages[PIPELINE_STAGES_MAX];
  unsigned stage_count;
  struct section sections[PIPELINE_STAGES_MAX];
  unsigned section_count;
  uint64_t ways; /* by which an item can have come at the sink */
  uint64_t depth;
  struct pipeline_item *items; /* depth of them */
  struct node *source;
  double interval; /* ticks from start to start in an open loop; 0: closed */
  enum cb_wait wait;
  const struct cb_control *control;
  struct cb_role roles[2]; /* the source; service lcores, if there are some */
  struct lane *lcores[PIPELINE_LCORES_MAX]; /* by thread of that role */
  unsigned lcore_count;
  _Alignas(CB_APART) _Atomic uint64_t ended; /* batches */
  _Atomic uint32_t broken;                   /* a lane cannot go on */
};

extern const struct cb_family cb_stage_family;
extern const struct stage_kind cb_stage_source, cb_stage_ring, cb_stage_service,
    cb_stage_coroutine, cb_stage_device, cb_stage_sink;

/* ---- for stages ---- */

/* "stage 2 (ring): ..." Returns code. */
int cb_stage_fail(const struct stage *stage, int code, struct cb_error *error,
                  const char *format, ...) CB_PRINTF(4, 5);
/* Zeroed memory of its own lines, as the node of a lane; NULL when there is
 * none. */
void *cb_stage_node(struct stage *stage, struct lane *lane, size_t size);
/* The stage of that kind in the section, or NULL. */
struct stage *cb_stage_in(const struct section *section,
                          const struct stage_kind *kind);
/* A power of two, of at least the items that can be in flight. */
uint64_t cb_pipeline_room(const struct pipeline *pipeline);
/* The node of the stage in the lane, or NULL. */
struct node *cb_lane_node(const struct lane *lane, const struct stage *stage);
/* Says that this lane cannot go on, so that nobody waits for it. */
void cb_pipeline_break(struct pipeline *pipeline);
/* One turn without work, streak of which went before: the streak now, or 0 when
 * it is time to give up. */
uint32_t cb_pipeline_wait(struct pipeline *pipeline, uint32_t streak);

/* The source. The numbers of items are free again, its own thread says; so
 * many are out and back; items that began and how. */
struct source_counts {
  uint64_t started, returned;
  uint64_t late;   /* started after the next one was due */
  uint64_t latest; /* ticks that one was late, at most */
  uint64_t waits;  /* turns without work */
};
void cb_source_begin(struct node *source, uint64_t n);
void cb_source_free(struct node *source, const uint64_t *items, uint32_t n);
bool cb_source_done(const struct node *source);
void cb_source_waited(struct node *source);
void cb_source_read(const struct node *source, struct source_counts *counts);

/* The sink's node: what came back since the last call, for the source; and
 * what it counted. */
struct sink_counts {
  uint64_t finished, sum; /* of numbers, modulo 2^64 */
  uint64_t twice;         /* of an item that was not in flight */
  uint64_t strange;       /* that is no item */
  uint64_t disorder;      /* behind one that started later, the same way */
};
uint32_t cb_sink_collect(struct node *sink, uint64_t *items, uint32_t most);
void cb_sink_read(const struct node *sink, struct sink_counts *counts);
struct cb_histogram *cb_sink_latency(struct node *sink);

/* The callback of a service: one turn of the lane of that lcore. */
int cb_lane_serve(void *section, struct cb_lcore *lcore);
/* One turn: was there work? */
bool cb_lane_turn(struct lane *lane);

/* An application lcore for the lane's thread, and its end. */
int cb_lane_attach(struct lane *lane, struct cb_error *error);
void cb_lane_detach(struct lane *lane);

/* May so many threads put into the ring and take out of it? */
int cb_stage_ring_threads(const struct stage *ring, unsigned producers,
                          unsigned consumers, struct cb_error *error);
/* The items of the coroutine stage wait for that device, so many ticks each
 * time that they yield. */
int cb_stage_coroutine_wait(struct stage *coroutine, const struct stage *device,
                            uint64_t ticks, struct cb_error *error);
size_t cb_stage_coroutine_counters(const struct stage *coroutine,
                                   struct cb_counter *list, size_t capacity);

/* ---- pipeline_chain.c, pipeline_run.c, pipeline_proof.c ---- */

int cb_pipeline_plan(struct pipeline *pipeline, const struct cb_spec *spec,
                     struct cb_error *error);
void cb_pipeline_forget(struct pipeline *pipeline);
/* The run, begin and end of the two roles. */
uint64_t cb_pipeline_run(void *state, unsigned thread, uint64_t n);
int cb_pipeline_begin(void *state, unsigned thread, struct cb_error *error);
void cb_pipeline_end(void *state, unsigned thread);
uint64_t cb_pipeline_run_lcore(void *state, unsigned thread, uint64_t n);
int cb_pipeline_check(void *state, uint64_t operations, struct cb_error *error);

#endif
