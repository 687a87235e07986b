#!/usr/bin/env bash
# Tries the two commands of the README as a stranger would: a clone of HEAD, empty caches, and nothing on the machine but
# what the README names. Where this machine allows it (root rights on Debian or Ubuntu), that is an empty root; else it is
# an empty home, and what the machine has besides can be found on the path. The first line says which of the two it is.
# Only what reaches package indexes is taken along from this machine (apt's sources, proxy, certificates, index settings);
# it is handed in at run time, and none of it is written down here.
#
#   ONLY=run    do this one of the two; ONLY=test the other
#   ARGS=…      is handed on to make test
#   PLACE=home  take the empty home; PLACE=root insists on the empty root
#   BARE=1      leave the venv package out of the root; then an index has to be named, as in PIP_INDEX_URL
#   KEEP=1      keep the folder and print where it is
#   LIMIT=900   seconds that each command may take
set -uo pipefail

top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel) || exit 1
folder=$(mktemp -d) || exit 1
root=
why_home=

tidy() {
  if [ "${KEEP:-}" = 1 ]; then
    echo "fresh: kept $folder"
  else
    # Whatever was mounted in the root went away with the commands that needed it; never leave this file system.
    rm -rf --one-file-system "$folder" 2>/dev/null || rm -rf "$folder"
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

certificates=(SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT NODE_EXTRA_CA_CERTS
  NPM_CONFIG_CAFILE npm_config_cafile)

gather_settings() {
  local name config=${XDG_CONFIG_HOME:-$HOME/.config}
  for name in "${certificates[@]}" \
    http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY \
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX PIP_TRUSTED_HOST PIP_PROXY \
    PIP_DEFAULT_TIMEOUT UV_DEFAULT_INDEX UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS \
    UV_NO_INDEX UV_INSECURE_HOST UV_NATIVE_TLS UV_SYSTEM_CERTS UV_HTTP_TIMEOUT \
    NPM_CONFIG_REGISTRY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY \
    npm_config_registry npm_config_proxy npm_config_https_proxy; do
    take "$name"
  done
  # With another HOME these files would not be found where their owner left them.
  take PIP_CONFIG_FILE "${PIP_CONFIG_FILE:-$(first_file "$config/pip/pip.conf" "$HOME/.pip/pip.conf" \
    "$HOME/Library/Application Support/pip/pip.conf")}"
  take NPM_CONFIG_USERCONFIG "${NPM_CONFIG_USERCONFIG:-$(first_file "$HOME/.npmrc")}"
  take UV_CONFIG_FILE "${UV_CONFIG_FILE:-$(first_file "$config/uv/uv.toml")}"
}

hand_in() { # FILE…: put files and folders of this machine into the root, at the same place
  local file
  for file in "$@"; do
    if [ -e "$file" ] && [ "${file#/}" != "$file" ]; then
      mkdir -p "$root$(dirname "$file")"
      cp -RLT "$file" "$root$file" 2>/dev/null || true # a dead link in a folder of certificates is no loss
    fi
  done
}

name_of_system() {
  (. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

make_root() { # make the empty root; say in why_home what stands against it
  local suite mirror packages=ca-certificates,git,make,python3,python3-venv
  if [ "${PLACE:-}" = home ]; then why_home="asked for" && return 1; fi
  if [ "$(id -u)" != 0 ]; then why_home="an empty root takes root rights" && return 1; fi
  if ! command -v apt-get unshare chroot >/dev/null; then why_home="no apt-get, unshare or chroot here" && return 1; fi
  if ! unshare --mount --pid --fork true 2>/dev/null; then why_home="nothing may be mounted here" && return 1; fi
  if ! command -v debootstrap >/dev/null; then
    echo "fresh: installing debootstrap"
    if ! { apt-get -qq update && apt-get -qq install --yes --no-install-recommends debootstrap; } >/dev/null 2>&1; then
      why_home="no debootstrap here, and apt-get does not install it" && return 1
    fi
  fi
  suite=${SUITE:-$(name_of_system)}
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 == suite { print $1; exit }')
  if [ -z "$mirror" ]; then why_home="apt knows no mirror of '$suite'" && return 1; fi
  if [ "${BARE:-}" = 1 ]; then packages=${packages%,python3-venv}; fi
  echo "fresh: making an empty root of $suite"
  root=$folder/root
  if ! debootstrap --variant=minbase "--include=$packages" "$suite" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1; then
    tail -3 "$folder/debootstrap.log"
    why_home="debootstrap failed" root=
    return 1
  fi
  echo "fresh: in an empty root of $suite with ${packages//,/, }"
}

furnish_root() { # hand in what reaches package indexes
  local name value
  hand_in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/uv/uv.toml /usr/share/keyrings \
    /etc/apt/{sources.list,sources.list.d,auth.conf,auth.conf.d,trusted.gpg,trusted.gpg.d,keyrings,preferences.d}
  apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/99-fresh" || true
  for name in "${certificates[@]}"; do hand_in "${!name-}"; done
  for value in "${taken[@]}"; do
    case $value in
    PIP_CONFIG_FILE=* | NPM_CONFIG_USERCONFIG=* | UV_CONFIG_FILE=*) hand_in "${value#*=}" ;;
    esac
  done
}

# In namespaces of its own the mounts and all processes are gone when the command is. The shell stays as process 1, which
# has to collect orphans.
enter='mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$1/dev/pts" &&
  { [ -e "$1/dev/ptmx" ] || ln -s pts/ptmx "$1/dev/ptmx"; } && mount --bind "$1/dev/pts/ptmx" "$1/dev/ptmx" || exit 125
  chroot "$@"
  exit $?'

inside() { # COMMAND…: run it in the clone, as a stranger, with nobody at the keyboard
  local limit=()
  if [ -n "$root" ]; then
    unshare --mount --pid --fork --kill-child bash -c "$enter" fresh "$root" \
      env -i "${taken[@]}" HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      timeout "${LIMIT:-3600}" sh -c 'cd /srv/assent && exec "$@"' fresh "$@" </dev/null
    return
  fi
  if command -v timeout >/dev/null; then limit=(timeout "${LIMIT:-3600}"); fi
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
  if [ "${ONLY:-$target}" != "$target" ]; then return; fi
  echo "fresh: make $target"
  inside "$@" || failed+=("make $target")
  times+=("make $target $((SECONDS - began)) s")
}

trap tidy EXIT
trap 'exit 130' INT TERM
case ${ONLY:-run} in run | test) ;; *) echo "fresh: ONLY is run or test, not $ONLY" >&2 && exit 2 ;; esac
gather_settings
if [ -n "$(git -C "$top" status --porcelain)" ]; then
  echo "fresh: what is not committed is not tried"
fi
if make_root; then
  furnish_root
  clone=$root/srv/assent
  python=python3
elif [ "${PLACE:-}" = root ]; then
  echo "fresh: FAILED: no empty root: $why_home"
  exit 1
else
  echo "fresh: in an empty home ($why_home)"
  for name in PATH LANG LC_ALL TZ TMPDIR PY; do take "$name"; done
  home=$folder/home
  clone=$folder/assent
  python=${PY:-python3}
  mkdir -p "$home" "$folder/run" && chmod 700 "$folder/run"
fi
git clone --quiet --no-hardlinks "$top" "$clone" || exit 1
# A server does not end by itself: this one is looked at, and stopped.
try run "$python" tools/fresh_run.py
try test make --no-print-directory test ${ARGS:+"ARGS=$ARGS"} ${JOBS:+"JOBS=$JOBS"}
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
