#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The rules that the built library has to keep to be loaded everywhere, and the
# header, the manual and an installed copy.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/common.sh"
cd "$ROOT"

exports() {
    readelf -W --dyn-syms "$1" |
        awk '$7 != "UND" && $5 == "GLOBAL" {print $8}' | sort
}
listed() {
    sed -n 's/^ *\([a-z][a-z0-9_]*\);$/\1/p' shim/otelctx.map | sort
}
functions() { # of the API
    listed | grep '^otelctx_' | grep -v '^otelctx_copy$'
}
declared() {
    sed -n 's/^OTELCTX_API .*[ *]\(otelctx_[a-z0-9_]*\)(.*/\1/p' \
        shim/otelctx.h | sort -u
}

# rules FILE NAME: what lets one file load under every libc; shim/meson.build
# says why.
rules() {
    local file=$1 name=$2 dynamic segments symbols imports

    dynamic=$(readelf -Wd "$file")
    segments=$(readelf -Wl "$file")
    symbols=$(readelf -W --dyn-syms "$file")
    imports=$(awk '$7 == "UND" && $8 != "" {print $5, $8}' <<<"$symbols")

    same "$name: exports what otelctx.map lists" "$(listed)" "$(exports "$file")"
    same "$name: the variable is 8 bytes of TLS, global, default" \
        '8 TLS GLOBAL DEFAULT' "$(awk '$8 == "otel_thread_ctx_v1" {
            print $3, $4, $5, $6}' <<<"$symbols")"
    contains "$name: a TLS descriptor names it" \
        "TLSDESC 0000000000000000 otel_thread_ctx_v1 + 0" \
        "$(readelf -Wr "$file" | tr -s ' ')"
    same "$name: of its own exports it only asks the linker whose these are" \
        $'GLOB_DAT otelctx_copy\nGLOB_DAT prctl' "$(readelf -Wr "$file" |
            sed -n 's/.*_\(GLOB_DAT\|JUMP_SLOT\|JUMP_SLO\) .* \(otelctx_[a-z_0-9]*\|prctl\) + 0.*/\1 \2/p' | sort)"
    same "$name: the variable is all of the TLS initialisation image" 0x000008 \
        "$(awk '$1 == "TLS" {print $5}' <<<"$segments")"
    contains "$name: keeps its section headers, which readers look at" \
        ' .rela.plt ' "$(readelf -WS "$file")"
    same "$name: imports no more than these, all weak" \
        "$(printf 'WEAK %s\n' __environ __errno_location __register_atfork \
            dlsym getauxval)" "$(sort <<<"$imports")"
    same "$name: needs no library, has no symbol versions, no DT_RELR" '' \
        "$(grep -E 'NEEDED|VERNEED|VERDEF|VERSYM|RELR|TEXTREL' <<<"$dynamic")"
    contains "$name: is bound at load time" 'BIND_NOW' "$dynamic"
    contains "$name: is never unmapped" 'NODELETE' "$dynamic"
    contains "$name: has its name" '[libotelctx_preload.so]' "$dynamic"
    same "$name: has both hash tables" 2 "$(grep -c 'HASH)' <<<"$dynamic")"
    same "$name: has two loadable segments" 2 "$(grep -c ' LOAD ' <<<"$segments")"
    contains "$name: is read-only after relocation" GNU_RELRO "$segments"
    same "$name: and no part of the file stays writable" '' \
        "$(readelf -WS "$file" | grep -F ' .data ' || :)"
    same "$name: has a stack that is not executable" RW \
        "$(sed -n 's/.*GNU_STACK.* \(R.*\) 0x.*/\1/p' <<<"$segments" | tr -d ' ')"
    contains "$name: has a build id" 'Build ID: ' "$(readelf -Wn "$file")"
    contains "$name: has unwind tables" .eh_frame "$(readelf -WS "$file")"
}

# stripped_size FILE STRIP: in KiB, rounded up.
stripped_size() {
    "$2" -o "$TMP/stripped" "$1"
    echo $((($(stat -c %s "$TMP/stripped") + 1023) / 1024))
}

rules "$SHIM" "$(uname -m)"
# Only gcc sees the whole library at once.
[[ $(readelf -p .comment "$SHIM") != *GCC* ]] ||
    same 'variables share a page with the first attributes' 1 \
        "$(nm "$SHIM" | awk '$3 ~ /^otelctx_(memory_version|status|thread_places)$/ {
            print substr($1, 1, 13)}' | sort -u | wc -l)"
[ "$(uname -m)" != x86_64 ] ||
    same 'fences by a locked instruction, and never by the slow one' 'lock orl' \
        "$(objdump -d "$SHIM" | grep -oE 'mfence|lock orl' | sort -u)"
check 'stripped it has at most 40 KiB' [ "$(stripped_size "$SHIM" strip)" -le 40 ]
contains 'x86-64: allows the shadow stack and branch tracking' \
    'x86 feature: IBT, SHSTK' "$(readelf -Wn "$SHIM")"

# The other architecture, by cross compiler and user emulation.
cat >"$TMP/aarch64.ini" <<'EOF'
[binaries]
c = 'aarch64-linux-gnu-gcc'
strip = 'aarch64-linux-gnu-strip'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
EOF
cross() {
    meson setup --cross-file "$TMP/aarch64.ini" -Dtests=disabled -Dwerror=true \
        "$TMP/aarch64" . && ninja -C "$TMP/aarch64"
}
check 'it builds for aarch64' cross
other=$TMP/aarch64/shim/libotelctx_preload.so
rules "$other" aarch64
check 'aarch64: stripped it has at most 72 KiB' \
    [ "$(stripped_size "$other" aarch64-linux-gnu-strip)" -le 72 ]
contains 'aarch64: allows branch protection' 'AArch64 feature: BTI, PAC' \
    "$(readelf -Wn "$other")"
aarch64-linux-gnu-gcc -pthread -I. -o "$TMP/driver" tests/e2e/hosts/driver.c
aarch64() {
    printf '%s\n' abi 'set a b' publish drop publish |
        qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_PRELOAD="$other" \
            -E OTELCTX_LOG_LEVEL=info "$TMP/driver" 2>&1 |
        sed 's/\[[0-9]*\]/[PID]/'
}
places_unknown() { # COMMAND...: before the shim is at work, or where it is not
    printf '%s\n' "$@" swap swapout | qemu-aarch64 -L /usr/aarch64-linux-gnu \
        "${with[@]}" "$TMP/driver" 2>&1 | tail -n 2
}
with=(-E "LD_PRELOAD=$other" -E OTELCTX_DISABLED=true)
same 'aarch64: disabled, it swaps nothing' $'swap -38\nswapout -38' \
    "$(places_unknown)"
with=()
same 'aarch64: opened, it swaps' $'swap 0\nswapout 0' \
    "$(places_unknown "open $other" "init 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")"
same 'aarch64: it publishes and serves its calls' \
    'otelctx[PID]: info: published a process context of 129 bytes
abi 1
set 0
publish 0
drop 0
publish 0' "$(aarch64)"

# A compiler that knows no TLS descriptors: clang before 19, gcc in its youth.
cat >"$TMP/old-cc" <<'EOF'
#!/bin/sh
case " $* " in *' -mtls-dialect=gnu2 '*) exit 1 ;; esac
exec gcc "$@"
EOF
chmod +x "$TMP/old-cc"
legacy() {
    CC=$TMP/old-cc meson setup -Dtests=disabled -Dwerror=true "$TMP/legacy" .
    ninja -C "$TMP/legacy" shim/libotelctx_preload.so
}
log=$(legacy 2>&1) || :
contains 'without TLS descriptors the build says so when it is configured' \
    'WARNING: this compiler has no TLS descriptors' "$log"
old=$TMP/legacy/shim/libotelctx_preload.so
contains 'and the legacy relocation names the variable' \
    'R_X86_64_DTPMOD64 0000000000000000 otel_thread_ctx_v1 + 0' \
    "$(readelf -Wr "$old" | tr -s ' ')"
SHIM=$old drive
same 'and readers find it nevertheless' \
    '0 general-dynamic 4bf92f3577b34da6a3ce929d0e0e4736' \
    "$(call attach 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01) $(
        "$READ" --json --threads "$PID" |
            jq -r '"\(.thread_context.symbol.access) \(.threads[0].trace_id)"')"
stop

# The header.
same 'the header declares what the library exports' "$(functions)" "$(declared)"
for standard in c11 c17 gnu11; do
    printf '#include "shim/otelctx.h"\nint main(void) { return otelctx_abi() != -38; }\n' \
        >"$TMP/header.c"
    check "the header alone compiles as $standard, without a warning" \
        gcc -std=$standard -Wall -Wextra -Wpedantic -Wconversion -Wcast-qual \
        -Werror -I. -o "$TMP/header" "$TMP/header.c"
    check "and runs without the shim ($standard)" "$TMP/header"
done
for standard in c++11 c++20; do
    check "the header alone compiles as $standard, without a warning" \
        g++ -x c++ -std=$standard -Wall -Wextra -Wpedantic -Wconversion \
        -Wold-style-cast -Werror -I. -o "$TMP/header" "$TMP/header.c"
    check "and runs without the shim ($standard)" "$TMP/header"
done
check 'as musl compiles it, too' musl-gcc -std=c11 -Wall -Wextra -Wpedantic \
    -Werror -I. -o "$TMP/header" "$TMP/header.c"

# The documentation.
undocumented() {
    local name missing=

    for name in $(functions) prctl otel_thread_ctx_v1 \
        $(sed -n 's/.*\.name = "\(.*\)",/\1/p' config/options.c); do
        grep -q "$name" shim/libotelctx_preload.7 || missing+=" $name"
    done
    echo "$missing"
}
same 'libotelctx_preload(7) tells of every call and every option' '' \
    "$(undocumented)"
same 'the table in the README is the table in the code' "$("$TABLE")" \
    "$(sed -n '/^| variable/,/^$/p' README.md | sed '/^$/d')"

# The example of a record in the README, and the same in the memory of a host.
example() {
    sed -n '/^### The bytes of a record/,/^Key 0/p' README.md |
        sed -n 's/^00[0-9a-f][0-9a-f]  \(\([0-9a-f][0-9a-f] \)*\).*/\1/p' | tr -d ' \n'
}
record() {
    local address

    address=$("$READ" --json --threads "$PID" | jq -r '.threads[0].record')
    dd if="/proc/$PID/mem" iflag=skip_bytes,count_bytes skip=$((address)) \
        count="$1" status=none | od -An -v -tx1 | tr -d ' \n'
}
drive OTELCTX_ATTRIBUTE_KEYS=http.route,http.request.method
same 'the example of a record is what the library writes' \
    "0 0 0 $(example)" \
    "$(call attach 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01) $(
        call attr 0 /cart) $(call attr 1 GET) $(record 40)"
stop

# An installed copy, built as the README says.
install_copy() {
    meson setup "$TMP/release" . --prefix=/usr -Dtests=disabled
    ninja -C "$TMP/release"
    DESTDIR=$TMP/root meson install -C "$TMP/release" --no-rebuild
}
check 'it installs as the README says' install_copy
lib=$(cd "$TMP/root" && dirname "$(find . -name 'libotelctx_preload.so')")
same 'it installs what a distribution would, where it would' \
    "./usr/bin/otelctx-read
./usr/include/otelctx.h
$lib/libotelctx_preload.so
$lib/pkgconfig/otelctx.pc
./usr/share/doc/otelctx/otelctx.conf
./usr/share/man/man1/otelctx-read.1
./usr/share/man/man7/libotelctx_preload.7" \
    "$(cd "$TMP/root" && find . -not -type d | LC_ALL=C sort)"
linker=$(readelf -Wl /bin/true | sed -n 's/.*interpreter: \(.*\)].*/\1/p')
contains 'the dynamic linker searches that folder' \
    "$(realpath -m "/$lib") (system search path)" \
    "$("$linker" --help | while read -r folder what; do
        echo "$(realpath -m "$folder") $what"
    done)"

cat >"$TMP/linked.c" <<'EOF'
#include <otelctx.h>
int main(void)
{
    return otelctx_process_set("linked", "yes") || otelctx_process_publish() ||
           otelctx_abi() != OTELCTX_ABI;
}
EOF
linked() {
    export PKG_CONFIG_SYSROOT_DIR=$TMP/root
    export PKG_CONFIG_PATH=$TMP/root/$lib/pkgconfig
    # shellcheck disable=SC2046 # words on purpose
    gcc -o "$TMP/linked" "$TMP/linked.c" $(pkg-config --cflags --libs otelctx)
    readelf -d "$TMP/linked" | grep 'NEEDED.*libotelctx_preload.so'
    LD_LIBRARY_PATH=$TMP/root/$lib "$TMP/linked"
}
check 'a program can link with it by pkg-config' linked

done_testing
