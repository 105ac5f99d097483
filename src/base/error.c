#include "cbench.h"

#include <stdarg.h>
#include <stdio.h>

int cb_fail(struct cb_error *error, int code, const char *format, ...)
{
  if (error) {
    va_list arguments;
    error->code = code;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return code;
}
