#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules by which the built library can be loaded everywhere; the header; an
# installed copy.
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"
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
    same "$name: of its own exports, only these have a relocation" \
        $'GLOB_DAT otelctx_copy\nGLOB_DAT prctl' "$(readelf -Wr "$file" |
            sed -n 's/.*_\(GLOB_DAT\|JUMP_SLOT\|JUMP_SLO\) .* \(otelctx_[a-z_0-9]*\|prctl\) + 0.*/\1 \2/p' | sort)"
    same "$name: the TLS initialisation image has nothing but the variable" 0x000008 \
        "$(awk '$1 == "TLS" {print $5}' <<<"$segments")"
    same "$name: the size of TLS is a multiple of its alignment" 0 \
        "$(($(awk '$1 == "TLS" {print $6 " % " $NF}' <<<"$segments")))"
    contains "$name: keeps its section headers, which readers look at" \
        ' .rela.plt ' "$(readelf -WS "$file")"
    same "$name: imports no more than these, all weak" \
        "$(printf 'WEAK %s\n' __environ __errno_location __register_atfork \
            dlsym getauxval)" "$(sort <<<"$imports")"
    same "$name: needs no library, has no symbol versions, no DT_RELR" '' \
        "$(grep -E 'NEEDED|VERNEED|VERDEF|VERSYM|RELR|TEXTREL' <<<"$dynamic")"
    contains "$name: is bound at load time" 'BIND_NOW' "$dynamic"
    same "$name: has no DT_JMPREL, which auditors bind late" '' \
        "$(grep -E 'JMPREL|PLTREL' <<<"$dynamic")"
    same "$name: has all relocations in one table" \
        "$(($(readelf -WS "$file" |
            sed -n 's/.* \.rela\.[a-z]* *RELA *[^ ]* [^ ]* \([^ ]*\) .*/+ 0x\1/p')))" \
        "$(sed -n 's/.*(RELASZ) *\([0-9]*\) .*/\1/p' <<<"$dynamic")"
    contains "$name: is never unmapped" 'NODELETE' "$dynamic"
    contains "$name: has this soname" '[libotelctx_preload.so]' "$dynamic"
    same "$name: has both hash tables" 2 "$(grep -c 'HASH)' <<<"$dynamic")"
    same "$name: has two loadable segments" 2 "$(grep -c ' LOAD ' <<<"$segments")"
    contains "$name: is read-only after relocation" GNU_RELRO "$segments"
    same "$name: has no .data, which would stay writable" '' \
        "$(readelf -WS "$file" | grep -F ' .data ' || :)"
    same "$name: has no executable stack" RW \
        "$(sed -n 's/.*GNU_STACK.* \(R.*\) 0x.*/\1/p' <<<"$segments" | tr -d ' ')"
    contains "$name: has a build id" 'Build ID: ' "$(readelf -Wn "$file")"
    contains "$name: has unwind tables" .eh_frame "$(readelf -WS "$file")"
}

# unwinding NAME FOLDER: a signal handler may walk the stack at any instruction.
unwinding() {
    local libraries library

    mapfile -t libraries < <(find "$2" -name 'lib*.so')
    contains "$1: the libraries are there" /libotelctx_preload.so "${libraries[*]}"
    for library in "${libraries[@]}"; do
        same "$1: before each instruction of ${library##*/} its unwind tables are true" \
            '' "$(tests/support/unwind_faults "$library")"
    done
}
# unwinding_faults GCC: those in the assembly on stdin, one function a line.
unwinding_faults() {
    sed 's/\([^:]*\): \(.*\)/\1: .cfi_startproc; \2; .cfi_endproc/' >"$TMP/wrong.s"
    echo 'naked: ret' >>"$TMP/wrong.s"
    "$1" -shared -nostdlib -o "$TMP/wrong.so" "$TMP/wrong.s"
    tests/support/unwind_faults "$TMP/wrong.so" | sed 's/ [0-9a-f]*: .*: /: /'
}

# stripped_size FILE STRIP: in KiB, rounded up.
stripped_size() {
    "$2" -o "$TMP/stripped" "$1"
    echo $((($(stat -c %s "$TMP/stripped") + 1023) / 1024))
}

rules "$SHIM" "$(uname -m)"
unwinding "$(uname -m)" "${SHIM%/*}"
[ "$(uname -m)" != x86_64 ] ||
    same 'x86-64: what looks for mistakes in unwind tables finds these' \
        'constant: the CFA is not rsp+8
lost: rbx is not u
late: the CFA is not rsp+8
branch: the CFA is not rsp+16
island: no path leads here
naked: no table' "$(unwinding_faults gcc <<'EOF'
right: push %rbx; .cfi_def_cfa_offset 16; .cfi_offset 3, -16; xor %ebx, %ebx; pop %rbx; .cfi_restore 3; .cfi_def_cfa_offset 8; ret
constant: push $1; pop %rax; ret
lost: xor %ebx, %ebx; ret
late: sub $8, %rsp; nop; .cfi_def_cfa_offset 16; add $8, %rsp; .cfi_def_cfa_offset 8; ret
branch: test %eax, %eax; je 1f; push %rax; .cfi_def_cfa_offset 16; 1: ret
island: ret; int3
EOF
    )"
# Only gcc compiles the whole library as one unit.
[[ $(readelf -p .comment "$SHIM") != *GCC* ]] ||
    same 'the variables that every call reads share a page' 1 \
        "$(nm "$SHIM" | awk '$3 ~ /^otelctx_(status|tls_offsets|storage_bits)$/ {
            print substr($1, 1, 13)}' | sort -u | wc -l)"
[ "$(uname -m)" != x86_64 ] ||
    same 'fences are locked instructions, not mfence' 'lock orl' \
        "$(objdump -d "$SHIM" | grep -oE 'mfence|lock orl' | sort -u)"
check 'stripped it has at most 57 KiB' [ "$(stripped_size "$SHIM" strip)" -le 57 ]
contains 'x86-64: allows the shadow stack and branch tracking' \
    'x86 feature: IBT, SHSTK' "$(readelf -Wn "$SHIM")"

# request_rules FILE NAME: the library of requests loads by the same rules.
request_rules() {
    local file=$1 name=$2 dynamic segments

    dynamic=$(readelf -Wd "$file")
    segments=$(readelf -Wl "$file")
    same "$name: exports what next.h and requests.map list" \
        "$(sed -n 's/^ *X(\([a-z_0-9]*\)).*/\1/p' shim/requests/next.h | sort | tee "$TMP/names")" \
        "$(exports "$file")"
    same "$name: requests.map lists what next.h does" "$(<"$TMP/names")" \
        "$(sed -n 's/^ *\([a-z_0-9]*\);$/\1/p' shim/requests/requests.map | sort)"
    same "$name: imports no more than these, all weak" \
        "$(printf 'WEAK %s\n' __errno_location __libc_dlopen_mode __libc_dlsym \
            dlsym getenv otelctx_attach otelctx_attach_with otelctx_detach otelctx_get \
            otelctx_key)" \
        "$(readelf -W --dyn-syms "$file" |
            awk '$7 == "UND" && $8 != "" {print $5, $8}' | sort)"
    same "$name: needs no library, has no symbol versions, no DT_RELR, no DT_JMPREL" '' \
        "$(grep -E 'NEEDED|VERNEED|VERDEF|VERSYM|RELR|TEXTREL|JMPREL|PLTREL' \
            <<<"$dynamic")"
    contains "$name: is bound at load time" 'BIND_NOW' "$dynamic"
    contains "$name: is never unmapped" 'NODELETE' "$dynamic"
    same "$name: has two loadable segments" 2 "$(grep -c ' LOAD ' <<<"$segments")"
    same "$name: has no .data, which would stay writable" '' \
        "$(readelf -WS "$file" | grep -F ' .data ' || :)"
    contains "$name: has unwind tables" .eh_frame "$(readelf -WS "$file")"
}
request_rules "$REQUESTS" 'requests'
check 'requests: stripped it has at most 32 KiB' \
    [ "$(stripped_size "$REQUESTS" strip)" -le 32 ]

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
check 'the library builds for aarch64' cross
other=$TMP/aarch64/shim/libotelctx_preload.so
rules "$other" aarch64
unwinding aarch64 "${other%/*}"
same 'aarch64: what looks for mistakes in unwind tables finds these' \
    'constant: the CFA is not sp+0
lost: x19 is not u
late: the CFA is not sp+0
signed: the return address is signed, or is not
link: ra is not u
below: x19 is not c-16
island: no path leads here
naked: no table' "$(unwinding_faults aarch64-linux-gnu-gcc <<'EOF'
right: paciasp; .cfi_negate_ra_state; stp x29, x30, [sp, -16]!; .cfi_def_cfa_offset 16; .cfi_offset 29, -16; .cfi_offset 30, -8; mov x29, 0; ldp x29, x30, [sp], 16; .cfi_restore 29; .cfi_restore 30; .cfi_def_cfa_offset 0; autiasp; .cfi_negate_ra_state; ret
constant: str x0, [sp, -16]!; ldr x0, [sp], 16; ret
lost: mov x19, 0; ret
late: sub sp, sp, 16; nop; .cfi_def_cfa_offset 16; add sp, sp, 16; .cfi_def_cfa_offset 0; ret
signed: paciasp; autiasp; ret
link: bl link; ret
below: str x19, [sp, -16]!; .cfi_def_cfa_offset 16; .cfi_offset 19, -16; mov x19, 0; ldr x19, [sp], 16; .cfi_def_cfa_offset 0; ret
island: ret; mov x0, 1
EOF
    )"
request_rules "$TMP/aarch64/shim/requests/libotelctx_requests.so" 'aarch64: requests'
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
places_unknown() { # COMMAND...: swaps while the TLS offsets are unknown
    printf '%s\n' "$@" swap swapout | qemu-aarch64 -L /usr/aarch64-linux-gnu \
        "${with[@]}" "$TMP/driver" 2>&1 | tail -n 2
}
with=(-E "LD_PRELOAD=$other" -E OTELCTX_DISABLED=true)
same 'aarch64: a disabled shim swaps nothing' $'swap -38\nswapout -38' \
    "$(places_unknown)"
with=()
same 'aarch64: an opened shim swaps' $'swap 0\nswapout 0' \
    "$(places_unknown "open $other" "init 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")"
# User emulation ignores MADV_WIPEONFORK and MADV_DONTFORK, and /proc/self/maps
# shows the emulator.
forked_in_emulator() { # EMULATOR...
    mkfifo "$TMP/emulated"
    "$@" <>"$TMP/emulated" >"$TMP/emulated.out" 2>&1 &
    PID=$!
    printf '%s\n' 'set a b' publish fork publish abi >"$TMP/emulated"
    until grep -q abi "$TMP/emulated.out"; do sleep 0.02; done
    for pid in "$PID" "$(sed -n 's/^fork //p' "$TMP/emulated.out")"; do
        grep -c OTEL_CTX "/proc/$pid/maps" || :
        kill "$pid"
    done
    rm "$TMP/emulated" "$TMP/emulated.out"
}
same 'aarch64: in an emulator parent and forked child have one context each' \
    $'1\n1' "$(forked_in_emulator qemu-aarch64 -L /usr/aarch64-linux-gnu \
        -E LD_PRELOAD="$other" "$TMP/driver")"
same 'aarch64: the shim publishes, and its calls work' \
    'otelctx[PID]: info: published a process context of 129 bytes
abi 1
set 0
publish 0
drop 0
publish 0' "$(aarch64)"

# aarch64 may reorder loads and stores unless a fence forbids it.
accesses() { # FUNCTION: its loads, stores and fences
    aarch64-linux-gnu-objdump -d --no-show-raw-insn --disassemble="$1" "$other" |
        awk '$2 == "dmb" {print $2, $3} $2 ~ /^(ldr|ldar|str|stlr)$/ {print $2}' |
        tr '\n' ' '
}
contains 'aarch64: a fence orders the in_use store before the ids, and a release ends the write' \
    'str dmb ish str str str stlr ' "$(accesses otelctx_attach_elsewhere)"
contains 'aarch64: a read of the ring has an acquire before the ids and a fence after them' \
    'ldar ldr ldr ldr dmb ishld ldr ' "$(accesses otelctx_get_by_tid)"
aarch64-linux-gnu-gcc -pthread -D_GNU_SOURCE -I. -o "$TMP/ringer" \
    tests/e2e/hosts/ringer.c
same 'aarch64: no read of the ring is mixed, and a forked child has a ring of its own' \
    'read 0
attach 0
tell 0 3' "$(printf '%s\n' 'read 300000' 'attach 3' fork tell |
        qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_PRELOAD="$other" \
            -E OTELCTX_THREAD_STORAGE=ring "$TMP/ringer" | grep -v fork)"

# A compiler without TLS descriptors, as clang before 19 on x86-64.
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
same 'without TLS descriptors readers find the variable, too' \
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
    check "a program with the header ($standard) runs without the shim" "$TMP/header"
done
for standard in c++11 c++20; do
    check "the header alone compiles as $standard, without a warning" \
        g++ -x c++ -std=$standard -Wall -Wextra -Wpedantic -Wconversion \
        -Wold-style-cast -Werror -I. -o "$TMP/header" "$TMP/header.c"
    check "a program with the header ($standard) runs without the shim" "$TMP/header"
done
check 'the header alone compiles under musl' musl-gcc -std=c11 -Wall -Wextra -Wpedantic \
    -Werror -I. -o "$TMP/header" "$TMP/header.c"

# An installed copy, built as the README says.
install_copy() {
    meson setup "$TMP/release" . --prefix=/usr -Dtests=disabled
    ninja -C "$TMP/release"
    DESTDIR=$TMP/root meson install -C "$TMP/release" --no-rebuild
}
check 'the README installs the library' install_copy
lib=$(cd "$TMP/root" && dirname "$(find . -name 'libotelctx_preload.so')")
same 'the installed files are where a distribution has them' \
    "./usr/bin/otelctx-judge
./usr/bin/otelctx-play
./usr/bin/otelctx-read
./usr/bin/otelctx-run
./usr/bin/otelctx-timeline
./usr/bin/otelctx-top
./usr/include/otelctx.h
./usr/include/otelctx_kit.h
$lib/libotelctx_kit.a
$lib/libotelctx_preload.so
$lib/libotelctx_requests.so
$lib/pkgconfig/otelctx.pc
./usr/share/bash-completion/completions/otelctx-judge
./usr/share/bash-completion/completions/otelctx-play
./usr/share/bash-completion/completions/otelctx-read
./usr/share/bash-completion/completions/otelctx-run
./usr/share/bash-completion/completions/otelctx-timeline
./usr/share/bash-completion/completions/otelctx-top
./usr/share/doc/otelctx/otelctx.conf
./usr/share/fish/vendor_completions.d/otelctx-judge.fish
./usr/share/fish/vendor_completions.d/otelctx-play.fish
./usr/share/fish/vendor_completions.d/otelctx-read.fish
./usr/share/fish/vendor_completions.d/otelctx-run.fish
./usr/share/fish/vendor_completions.d/otelctx-timeline.fish
./usr/share/fish/vendor_completions.d/otelctx-top.fish
./usr/share/man/man1/otelctx-judge.1
./usr/share/man/man1/otelctx-play.1
./usr/share/man/man1/otelctx-read.1
./usr/share/man/man1/otelctx-run.1
./usr/share/man/man1/otelctx-timeline.1
./usr/share/man/man1/otelctx-top.1
./usr/share/man/man5/otelctx-recording.5
./usr/share/man/man5/otelctx-verdict.5
./usr/share/man/man5/otelctx.5
./usr/share/man/man7/libotelctx_preload.7
./usr/share/man/man7/libotelctx_requests.7
./usr/share/zsh/_otelctx" \
    "$(cd "$TMP/root" && find . -not -type d |
        sed -E 's,(zsh)/(site-functions|vendor-completions),\1,' | LC_ALL=C sort)"
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
