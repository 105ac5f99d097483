/* queues.cc - C++ queues as rings. */
#include "queues.h"

CB_PLUGIN("cxx_queues", CB_PLUGIN_KIND(ring, peer_atomic_queue),
          CB_PLUGIN_KIND(ring, peer_atomic_queue_fixed),
          CB_PLUGIN_KIND(ring, peer_moodycamel_rwq),
          CB_PLUGIN_KIND(ring, peer_moodycamel_cq),
          CB_PLUGIN_KIND(ring, peer_boost_spsc));
