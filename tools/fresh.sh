#!/usr/bin/env bash
# Tries the two commands of the README as a stranger would: a clone of HEAD, an empty home, empty caches.
# Only what reaches the package index is taken along from this machine (proxy, certificates, index settings),
# and it is taken from the environment, never written down.
#
#   KEEP=1    keep the folder and print where it is
#   LIMIT=900 seconds that each command may take
set -uo pipefail

top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel) || exit 1
folder=$(mktemp -d) || exit 1
home=$folder/home
clone=$folder/assent
mkdir -p "$home" "$folder/run" && chmod 700 "$folder/run"

tidy() {
  if [ "${KEEP:-}" = 1 ]; then
    echo "fresh: kept $folder"
  else
    rm -rf "$folder"
  fi
}

taken=()
take() { # NAME [VALUE]: pass a variable on, if it has a value
  local value=${2-${!1-}}
  if [ -n "$value" ]; then taken+=("$1=$value"); fi
}

first_file() {
  local file
  for file in "$@"; do
    if [ -f "$file" ]; then
      echo "$file"
      return
    fi
  done
}

gather_settings() {
  local name config=${XDG_CONFIG_HOME:-$HOME/.config}
  for name in PATH LANG LC_ALL TZ TMPDIR PY \
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE \
    http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY \
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX PIP_TRUSTED_HOST PIP_CERT PIP_PROXY \
    PIP_DEFAULT_TIMEOUT UV_DEFAULT_INDEX UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS \
    UV_NO_INDEX UV_INSECURE_HOST UV_NATIVE_TLS UV_SYSTEM_CERTS UV_HTTP_TIMEOUT \
    NPM_CONFIG_REGISTRY NPM_CONFIG_CAFILE NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY NODE_EXTRA_CA_CERTS \
    npm_config_registry npm_config_cafile npm_config_proxy npm_config_https_proxy; do
    take "$name"
  done
  # With another HOME these files would not be found where their owner left them.
  take PIP_CONFIG_FILE "${PIP_CONFIG_FILE:-$(first_file "$config/pip/pip.conf" "$HOME/.pip/pip.conf" \
    "$HOME/Library/Application Support/pip/pip.conf")}"
  take NPM_CONFIG_USERCONFIG "${NPM_CONFIG_USERCONFIG:-$(first_file "$HOME/.npmrc")}"
  take UV_CONFIG_FILE "${UV_CONFIG_FILE:-$(first_file "$config/uv/uv.toml")}"
}

inside() { # COMMAND…: run it in the clone, as a stranger, with nobody at the keyboard
  local limit=()
  if command -v timeout >/dev/null; then limit=(timeout "${LIMIT:-1800}"); fi
  (cd "$clone" && env -i "${taken[@]}" HOME="$home" TERM=dumb \
    XDG_CONFIG_HOME="$home/.config" XDG_CACHE_HOME="$home/.cache" XDG_DATA_HOME="$home/.local/share" \
    XDG_STATE_HOME="$home/.local/state" XDG_RUNTIME_DIR="$folder/run" \
    UV_CACHE_DIR="$folder/uv-cache" PIP_CACHE_DIR="$folder/pip-cache" NPM_CONFIG_CACHE="$folder/npm-cache" \
    "${limit[@]}" "$@" </dev/null)
}

failed=()
times=()
try() { # TARGET COMMAND…: do what make TARGET does and note how long it took
  local target=$1 began=$SECONDS
  shift
  echo "fresh: make $target"
  inside "$@" || failed+=("make $target")
  times+=("make $target $((SECONDS - began)) s")
}

trap tidy EXIT
trap 'exit 130' INT TERM
gather_settings
if [ -n "$(git -C "$top" status --porcelain)" ]; then
  echo "fresh: what is not committed is not tried"
fi
git clone --quiet --no-hardlinks "$top" "$clone" || exit 1
# A server does not end by itself: this one is looked at, and stopped.
try run "${PY:-python3}" tools/fresh_run.py
try test make --no-print-directory test
left=$(git -C "$clone" status --porcelain)
if [ -n "$left" ]; then
  echo "$left"
  failed+=("a clean tree afterwards")
fi

printf 'fresh: %s\n' "${times[@]}"
if [ ${#failed[@]} -eq 0 ]; then
  verdict="fresh: works from nothing"
  status=0
else
  verdict="fresh: FAILED:$(printf ' %s;' "${failed[@]}")"
  status=1
fi
trap - EXIT
tidy
echo "${verdict%;}"
exit "$status"
