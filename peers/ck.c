/* ck.c - Concurrency Kit's own ck_ring and ck_spinlock as kinds. */
#include "ck.h"

#include <cbench/plugin.h>

CB_PLUGIN("ck", CB_PLUGIN_KIND(ring, peer_ck_ring),
          CB_PLUGIN_KIND(lock, peer_ck_fas), CB_PLUGIN_KIND(lock, peer_ck_cas),
          CB_PLUGIN_KIND(lock, peer_ck_dec),
          CB_PLUGIN_KIND(lock, peer_ck_ticket),
          CB_PLUGIN_KIND(lock, peer_ck_mcs));
