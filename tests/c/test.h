/* test.h - what every C test program includes: cmocka and its needs. */
#ifndef CB_TEST_H
#define CB_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After those four, which it needs. */
#include <cmocka.h>

#include "cbench.h"

#endif
