#!/bin/sh
# Lines of results in SQLite.
. "$top_srcdir/tests/fleet/lib.sh"
needs sqlite3 sqlite3
trap 'rm -rf "$work"' EXIT
recipes sqlite
finish
