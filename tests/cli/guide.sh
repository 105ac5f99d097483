#!/bin/sh
# The guide, as it stands: its commands are run against an installed tree.
if [ "$SANITIZE" != no ]; then
  echo '1..0 # SKIP a sanitized build is not installed here'
  exit 0
fi
for tool in pkg-config git make; do
  command -v $tool >/dev/null || {
    echo "1..0 # SKIP $tool is not installed"
    exit 0
  }
done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
MAKEFLAGS='' make -C "$top_builddir" install DESTDIR="$folder/tree" \
  >"$folder/out" 2>&1 || {
  echo '1..1'
  echo 'not ok 1 - make install'
  exit 0
}
config=$(find "$folder/tree" -name cbench.pc)
export PKG_CONFIG_PATH="${config%/*}" PKG_CONFIG_SYSROOT_DIR="$folder/tree"
# A tree that is only read gives copies that are only read.
cp -R "$top_srcdir/doc" "$folder/doc" && chmod -R u+w "$folder/doc"
export CBENCH_DOC="$folder/doc" MAKEFLAGS=''
export GIT_CONFIG_NOSYSTEM=1 HOME="$folder"
git config --global user.name Guide
git config --global user.email guide@example.org
"$CBENCH" "$top_srcdir/tests/cli/transcript.lua" "$top_srcdir/doc/guide.md"
