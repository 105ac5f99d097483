/* plugins.h - lets the tests that go over a family go over plug-ins' kinds. */
#ifndef CB_TEST_PLUGINS_H
#define CB_TEST_PLUGINS_H

#include "cbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CB_TEST_ALONE /* built without what loads plug-ins */
static inline void load_test_plugins(void)
{
}
#else
/* Loads the plug-ins that CB_TEST_PLUGINS names, separated by colons. */
static inline void load_test_plugins(void)
{
  const char *named = getenv("CB_TEST_PLUGINS");
  char *paths = strdup(named ? named : "");
  for (char *rest = paths, *path; (path = strtok_r(rest, ":", &rest));) {
    struct cb_error error;
    if (!cb_plugin_load(path, NULL, &error)) {
      printf("Bail out! %s\n", error.text);
      exit(1);
    }
  }
  free(paths);
}
#endif

#endif
