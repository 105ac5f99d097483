#include "config.h"

#include "cbench.h"

const char *cb_version(void)
{
  return PACKAGE_VERSION;
}
