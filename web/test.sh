#!/usr/bin/env bash
# Checks, tests and builds the page. Needs Node 18.13 or newer; the packages are those of package-lock.json.
set -euo pipefail
cd "$(dirname "$0")"
if grep -q '"resolved"' package-lock.json; then
  echo 'package-lock.json names a registry: install with the .npmrc of this folder' >&2
  exit 1
fi
npm ci --no-audit --no-fund
sha256sum <package-lock.json >node_modules/.dormouse-lock # tools/web_page.sh needs no other packages
npm run check
npm test
npm run build
