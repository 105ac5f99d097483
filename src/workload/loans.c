#include "workload/loans.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Of all measurements, the last first. Of a loan in it, its own measurement
 * changes everything but next. */
static struct ring_loan *loans;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int cb_ring_usable(const struct cb_ring *ring, struct cb_error *error)
{
  if (!cb_ring_is_broken(ring))
    return 0;
  return cb_fail(error, -EPIPE,
                 "another workload was stopped inside this ring, which is of "
                 "no use since");
}

/* Another workload that has this ring: the one that holds what is in it, or
 * any. */
static struct ring_loan *find(const struct ring_loan *loan, bool holder)
{
  struct ring_loan *found;
  pthread_mutex_lock(&mutex);
  for (found = loans; found; found = found->next)
    if (found != loan && found->ring == loan->ring && (found->holds || !holder))
      break;
  pthread_mutex_unlock(&mutex);
  return found;
}

int cb_ring_borrow(struct ring_loan *loan, struct cb_ring *ring,
                   const struct cb_control *control, cb_ring_drop *back,
                   void *context, struct cb_error *error)
{
  int status = cb_ring_usable(ring, error);
  if (status < 0)
    return status;
  uint64_t count = cb_ring_count(ring);
  *loan = (struct ring_loan){.ring = ring,
                             .control = control,
                             .back = back,
                             .context = context,
                             .kept = malloc((count + 1) * sizeof *loan->kept)};
  if (!loan->kept) {
    loan->ring = NULL;
    return cb_fail(error, -ENOMEM, "out of memory");
  }
  while (loan->kept_count < count &&
         ring->ops->dequeue(ring, &loan->kept[loan->kept_count]))
    loan->kept_count++;
  ring->control = control;
  pthread_mutex_lock(&mutex);
  loan->next = loans;
  loans = loan;
  pthread_mutex_unlock(&mutex);
  return 0;
}

int cb_ring_claim(struct ring_loan *loan, struct cb_error *error)
{
  if (!loan->ring || loan->holds)
    return 0;
  int status = cb_ring_usable(loan->ring, error);
  if (status < 0)
    return status;
  struct ring_loan *holder = find(loan, true);
  if (holder) {
    cb_ring_drain(holder->ring, holder->back, holder->context);
    holder->holds = false;
  }
  loan->holds = true;
  loan->ring->control = loan->control;
  return 0;
}

void cb_ring_return(struct ring_loan *loan)
{
  struct cb_ring *ring = loan->ring;
  if (!ring)
    return;
  if (cb_ring_claim(loan, NULL) == 0 && !cb_ring_is_broken(ring)) {
    cb_ring_drain(ring, NULL, NULL);
    for (uint64_t i = 0; i < loan->kept_count; i++)
      ring->ops->enqueue(ring, loan->kept[i]);
  }
  const struct ring_loan *other = find(loan, false);
  ring->control = other ? other->control : NULL;
  cb_ring_forget(loan);
}

void cb_ring_forget(struct ring_loan *loan)
{
  if (!loan->ring)
    return;
  pthread_mutex_lock(&mutex);
  struct ring_loan **at = &loans;
  while (*at != loan)
    at = &(*at)->next;
  *at = loan->next;
  pthread_mutex_unlock(&mutex);
  free(loan->kept);
  *loan = (struct ring_loan){.ring = NULL};
}
