#!/bin/sh
# What the tests need beyond Python: installed where that is possible, named where it is not.
for pair in node:nodejs chromium:chromium strace:strace; do
  program=${pair%%:*} package=${pair##*:}
  command -v "$program" >/dev/null && continue
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing $package for the tests"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package"; } \
      >/dev/null 2>&1
  fi
  command -v "$program" >/dev/null ||
    echo "skipping the tests that need $program; to run them: apt-get install $package"
done
exit 0
