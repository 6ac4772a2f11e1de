#!/usr/bin/env bash
# Finds the program that judges, or installs it. Never from the checked-out tree, where nothing is ours: whoever opens a
# pull request writes its package.json, its .npmrc and its node_modules/.bin.
set -euo pipefail

fail() {
  echo "::error title=git-handoff::$1" >&2
  exit 1
}

given() {
  local found
  found=$(type -P -- "$COMMAND") || fail 'The input command names no program that is installed.'
  node "$ACTION_PATH/ci/outside.mjs" "$found" "$GITHUB_WORKSPACE" ||
    fail 'The input command names a program in the checked-out tree, or by a link in it, which the pull request may have written. Install it elsewhere.'
  found=$(realpath -- "$found")
  echo "$found"
}

installed() {
  local version=${VERSION:-$(node -p 'require(process.env.ACTION_PATH + "/package.json").version')}
  [[ $version =~ ^[0-9A-Za-z.+-]+$ ]] || fail 'The input version is no version.'
  mkdir -p "$RUNNER_TEMP/git-handoff"
  cd "$RUNNER_TEMP/git-handoff" # npm reads the .npmrc and the package.json of where it is
  echo '{ "private": true }' >package.json
  npm install --silent --ignore-scripts --no-audit --no-fund "git-handoff@$version" >&2
  echo "$PWD/node_modules/.bin/git-handoff"
}

node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  fail 'git-handoff needs Node 20.19 or newer: use actions/setup-node before it.'

if [ -n "$COMMAND" ]; then program=$(given); else program=$(installed); fi
echo "program=$program" >>"$GITHUB_OUTPUT"
