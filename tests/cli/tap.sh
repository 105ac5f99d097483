# For shell tests, which source it: the lines of TAP. What a command printed
# stands in the file $out, and is shown when the test failed.
number=0
result() { # STATUS NAME
  number=$((number + 1))
  if [ "$1" = 0 ]; then
    echo "ok $number - $2"
  else
    echo "not ok $number - $2"
    tail -n 30 "$out" 2>/dev/null | sed 's/^/# /'
  fi
}
skip() { # NAME REASON
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}
