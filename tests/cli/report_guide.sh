#!/bin/sh
# The commands of the guide to pages and pictures, as they stand there.
if ! command -v gnuplot >/dev/null; then
  echo '1..0 # SKIP gnuplot is not installed'
  exit 0
fi
exec "$CBENCH" "$top_srcdir/tests/cli/transcript.lua" \
  "$top_srcdir/doc/report.md"
