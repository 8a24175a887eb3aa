#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every way in which a program can define and access otel_thread_ctx_v1, on glibc
# and musl, x86-64 and aarch64. Each cell is a program (matrix/writer.c), whose
# relocations prove how it accesses the variable. otelctx-read and gdb must see
# the same records as the program itself.
#
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

SOURCES=$ROOT/tests/e2e/thread/matrix
SUPPORT=$ROOT/tests/support
GUEST=$BUILD/guest/arm64
EXPORTED=-Wl,--export-dynamic-symbol=otel_thread_ctx_v1

# ---- a target: machine, libc, and the objects that cells are linked from -----

# object NAME SOURCE OPTION...
object() {
    "${CC[@]}" -std=gnu11 -D_GNU_SOURCE -O2 -g0 -c -o "$OBJECTS/$1.o" \
        "$SOURCES/$2.c" "${@:3}"
}
pad() {
    object "$1" pad -fPIC "-DPAD_SIZE=$2" "-DPAD_ALIGN=$3" "-DPAD_VALUE=\"$4\""
}

# target MACHINE LIBC COMPILER DESCRIPTORS LEGACY: the last two are the options for
# the two TLS dialects.
target() {
    local source

    MACHINE=$1 LIBC=$2
    OBJECTS=$TMP/objects/$MACHINE-$LIBC
    mkdir -p "$OBJECTS"
    CC=(clang "--target=$MACHINE-linux-gnu")
    object clang used -fPIC
    CC=("$3")
    for source in writer linked opened defined spacious; do
        object $source $source -fPIC
    done
    object local used -fPIE -ftls-model=local-exec
    object initial used -fPIC -ftls-model=initial-exec
    object desc used -fPIC "$4"
    object legacy used -fPIC "$5"
    object aliased_desc aliased -fPIC "$4"
    object aliased_legacy aliased -fPIC "$5"
    pad small 8 8 p
    pad aligned 8 64 p
    pad page 8 4096 p
    pad zeroed 100 64 ''
    pad big 65536 16 p # more than glibc keeps free for libraries opened late
}

# ---- a cell: what is built, what is run, what a reader should see ------------

FOLDERS=() TITLES=() EXPECTED=()

# cell SENTENCE
cell() {
    CELL=$TMP/cells/$MACHINE/${#FOLDERS[@]}
    FOLDERS+=("$CELL")
    TITLES+=("$MACHINE $LIBC: $1")
    EXPECTED+=('')
    mkdir -p "$CELL"
}

# lib NAME WORD..., exe WORD...: links objects, with options. lld makes a library
# that needs no other.
lld() {
    (cd "$OBJECTS" && ld.lld -shared -soname="lib$1.so" \
        -o "$CELL/lib$1.so" "${@:2}")
}
lib() {
    (cd "$OBJECTS" && "${CC[@]}" -shared -L"$CELL" -o "$CELL/lib$1.so" \
        -Wl,-soname,"lib$1.so" "${@:2}")
}
exe() {
    (cd "$OBJECTS" && "${CC[@]}" -pthread -L"$CELL" -Wl,-rpath-link,"$CELL" \
        -Wl,--no-as-needed -o "$CELL/writer" writer.o "$@")
}

# reads ACCESS OBJECT RELOCATIONS [START]: what the reader should print for the
# cell, which relocations name the variable, and how to start the writer.
reads() {
    local start=${4-./writer} idle=detached gdb=name

    case $LIBC-$1-$start in
    glibc-*-dynamic-*.so) idle=untouched ;; # allocates at the first touch
    esac
    case ${TITLES[-1]} in
    *musl* | *'static PIE, stripped'*) gdb=place ;; # no libthread_db
    *'two definitions'*) gdb=place ;; # gdb does not choose as the linker does
    *'as a command'*) gdb=place ;;    # gdb takes the linker for the program
    esac
    EXPECTED[-1]="$1 $2 $idle $gdb $3"
    echo "$start" >"$CELL/start"
}

interpreter() {
    readelf -lW "$CELL/writer" |
        sed -n 's/.*program interpreter: \(.*\)\]/\1/p'
}

executables() {
    cell 'PIE'
    exe linked.o local.o defined.o -pie $EXPORTED
    reads local-exec writer ''

    cell 'PIE, stripped'
    exe linked.o local.o defined.o -pie -s $EXPORTED
    reads local-exec writer ''

    cell 'no PIE'
    exe linked.o local.o defined.o -no-pie $EXPORTED
    reads local-exec writer ''

    cell 'no PIE, stripped'
    exe linked.o local.o defined.o -no-pie -s $EXPORTED
    reads local-exec writer ''

    cell 'static, found in .symtab'
    exe linked.o local.o defined.o -static
    reads local-exec writer ''

    cell 'behind a variable aligned to 64'
    exe linked.o local.o aligned.o defined.o $EXPORTED
    reads local-exec writer ''

    cell 'behind a variable aligned to 4096'
    exe linked.o local.o page.o defined.o $EXPORTED
    reads local-exec writer ''

    cell 'static, behind a variable aligned to 4096'
    exe linked.o local.o page.o defined.o -static
    reads local-exec writer ''

    cell 'in a block whose size is no multiple of its alignment'
    exe linked.o local.o small.o zeroed.o defined.o $EXPORTED
    reads local-exec writer ''

    cell 'PIE, started by the dynamic linker as a command'
    exe linked.o local.o defined.o -pie $EXPORTED
    reads local-exec writer '' "$(interpreter) ./writer"

    cell 'in the executable, used by a library'
    lib ctx desc.o
    exe linked.o defined.o -lctx $EXPORTED
    reads local-exec writer TLSDESC
}

# Where the linker does not relax it to local exec, as on aarch64. There lld has
# one dialect.
only_x86_64() {
    cell 'PIE, initial exec'
    exe linked.o initial.o defined.o -pie $EXPORTED
    reads local-exec writer TPOFF

    cell 'opened library, general dynamic, by lld, bound within itself'
    lld ctx legacy.o small.o defined.o -Bsymbolic
    exe opened.o
    reads general-dynamic libctx.so DTPMOD './writer ./libctx.so'
}

linked() {
    cell 'linked library, TLSDESC'
    lib ctx desc.o defined.o
    exe linked.o -lctx
    reads tlsdesc-static libctx.so TLSDESC

    cell 'linked library, TLSDESC, by lld'
    lld ctx desc.o defined.o
    exe linked.o -lctx
    reads tlsdesc-static libctx.so TLSDESC

    cell 'linked library, TLSDESC, by lld, bound within itself'
    lld ctx desc.o small.o defined.o -Bsymbolic
    exe linked.o -lctx
    reads tlsdesc-static libctx.so ''

    cell 'linked library, TLSDESC, found by the older hash table'
    lib ctx desc.o defined.o -Wl,--hash-style=sysv
    exe linked.o -lctx
    reads tlsdesc-static libctx.so TLSDESC

    cell 'linked library, as clang has it'
    lib ctx clang.o defined.o
    exe linked.o -lctx
    case $MACHINE in
    x86_64) reads general-dynamic libctx.so 'DTPMOD DTPOFF' ;;
    aarch64) reads tlsdesc-static libctx.so TLSDESC ;;
    esac

    cell 'linked library, TLSDESC, under another name'
    lib ctx small.o aliased_desc.o
    exe linked.o -lctx
    reads tlsdesc-static libctx.so ''

    cell 'linked library, TLSDESC, everything stripped'
    lib ctx desc.o defined.o -s
    exe linked.o -lctx -s
    reads tlsdesc-static libctx.so TLSDESC

    cell 'linked library, general dynamic'
    lib ctx legacy.o defined.o
    exe linked.o -lctx
    reads general-dynamic libctx.so 'DTPMOD DTPOFF'

    cell 'linked library, general dynamic, under another name'
    lib ctx small.o aliased_legacy.o
    exe linked.o -lctx
    reads general-dynamic libctx.so ''

    cell 'linked library, initial exec'
    lib ctx initial.o defined.o
    exe linked.o -lctx
    reads initial-exec libctx.so TPOFF

    cell 'linked library, used by the executable'
    lib ctx defined.o
    exe linked.o initial.o -lctx
    reads initial-exec libctx.so TPOFF

    cell 'linked library, used by another one'
    lib def small.o defined.o
    lib ctx desc.o -ldef
    exe linked.o -lctx
    reads tlsdesc-static libdef.so TLSDESC

    cell 'linked library, TLSDESC, above files that are mapped to be read'
    lib ctx desc.o defined.o
    lib spacious spacious.o
    exe linked.o -lctx
    reads tlsdesc-static libctx.so TLSDESC \
        "env MAPPED=$(mapped "$(interpreter)") ./writer"

    cell 'linked library, behind others with big and aligned variables'
    lib one big.o
    lib two aligned.o
    lib ctx desc.o defined.o
    exe linked.o page.o -lone -ltwo -lctx
    reads tlsdesc-static libctx.so TLSDESC
}

# mapped FILE: what to map: FILE, the cell's own files, and the spacious library.
mapped() {
    echo "$1:./writer:./libctx.so:./libspacious.so"
}

opened() {
    cell 'opened library, TLSDESC, above files that are mapped to be read'
    lib ctx desc.o big.o defined.o
    lib spacious spacious.o
    exe opened.o
    reads tlsdesc-dynamic libctx.so TLSDESC \
        "env MAPPED=$(mapped "$(interpreter)") ./writer ./libctx.so"

    cell 'opened library, TLSDESC, big block'
    lib ctx desc.o big.o defined.o
    exe opened.o
    reads tlsdesc-dynamic libctx.so TLSDESC './writer ./libctx.so'

    cell 'opened library, TLSDESC, big block, threads were there before'
    lib ctx desc.o big.o defined.o
    exe opened.o
    reads tlsdesc-dynamic libctx.so TLSDESC './writer --late ./libctx.so'

    cell 'opened library, TLSDESC, under another name'
    lib ctx big.o aliased_desc.o
    exe opened.o
    reads tlsdesc-dynamic libctx.so '' './writer ./libctx.so'

    cell 'opened library, general dynamic'
    lib ctx legacy.o defined.o
    exe opened.o
    reads general-dynamic libctx.so 'DTPMOD DTPOFF' './writer ./libctx.so'

    cell 'opened library, general dynamic, threads were there before'
    lib ctx legacy.o defined.o
    exe opened.o
    reads general-dynamic libctx.so 'DTPMOD DTPOFF' \
        './writer --late ./libctx.so'

    cell 'opened library, general dynamic, under another name, stripped'
    lib ctx big.o aliased_legacy.o -s
    exe opened.o -s
    reads general-dynamic libctx.so '' './writer ./libctx.so'

    cell 'opened library, TLSDESC, behind forty others, stripped'
    lib ctx desc.o big.o defined.o -s
    exe opened.o -s
    reads tlsdesc-dynamic libctx.so TLSDESC \
        "./writer --late $(others 40) ./libctx.so"

    cell 'opened library, general dynamic, behind forty others'
    lib ctx legacy.o defined.o
    exe opened.o
    reads general-dynamic libctx.so 'DTPMOD DTPOFF' \
        "./writer --late $(others 40) ./libctx.so"
}

# others COUNT: makes that many libraries with TLS and prints their names.
others() {
    local i

    lib other small.o
    for ((i = 0; i < $1; i++)); do
        cp "$CELL/libother.so" "$CELL/libother$i.so"
        echo "./libother$i.so"
    done | paste -sd ' '
}

# What only glibc has, or musl's wrapper cannot link: static PIE, spare static TLS
# for libraries that are opened, TLS module ids that are reused, and dlmopen().
only_glibc() {
    cell 'static PIE, found in .symtab'
    exe linked.o local.o defined.o -static-pie
    reads local-exec writer ''

    cell 'static PIE, stripped, found in .dynsym'
    exe linked.o local.o defined.o -static-pie -s $EXPORTED
    reads local-exec writer ''

    cell 'opened library, TLSDESC, small block'
    lib ctx desc.o defined.o
    exe opened.o
    reads tlsdesc-static libctx.so TLSDESC './writer ./libctx.so'

    cell 'opened library, TLSDESC, small block, threads were there before'
    lib ctx desc.o defined.o
    exe opened.o
    reads tlsdesc-static libctx.so TLSDESC './writer --late ./libctx.so'

    cell 'opened library, initial exec'
    lib ctx initial.o defined.o
    exe opened.o
    reads initial-exec libctx.so TPOFF './writer ./libctx.so'

    cell 'opened library, TLSDESC, in the place of one that threads had used'
    lib old desc.o big.o defined.o
    lib ctx desc.o big.o small.o defined.o
    exe opened.o
    reads tlsdesc-dynamic libctx.so TLSDESC \
        './writer --late -./libold.so ./libctx.so'

    cell 'opened library, general dynamic, in the place of one that was used'
    lib old legacy.o defined.o
    lib ctx legacy.o defined.o
    exe opened.o
    reads general-dynamic libctx.so 'DTPMOD DTPOFF' \
        './writer --late -./libold.so ./libctx.so'

    cell 'library opened in a namespace of its own'
    lib ctx legacy.o defined.o -Wl,--no-as-needed -lc
    exe opened.o
    reads general-dynamic libctx.so 'DTPMOD DTPOFF' './writer +./libctx.so'
}

several() {
    cell "two definitions: the executable's, not the linked library's"
    lib ctx desc.o defined.o
    exe linked.o small.o defined.o -lctx $EXPORTED
    reads local-exec writer TLSDESC

    cell "two definitions: the executable's, not the opened library's"
    lib ctx legacy.o small.o defined.o
    exe opened.o defined.o $EXPORTED
    reads local-exec writer 'DTPMOD DTPOFF' './writer ./libctx.so'

    cell "two definitions: the first linked library's"
    lib first aligned.o defined.o
    lib ctx legacy.o defined.o
    exe linked.o -lfirst -lctx
    reads general-dynamic libfirst.so 'DTPMOD DTPOFF'

    cell "two definitions: the preloaded library's"
    lib first small.o defined.o
    lib ctx desc.o defined.o
    exe linked.o -lctx
    reads tlsdesc-static libfirst.so TLSDESC \
        'env LD_PRELOAD=./libfirst.so ./writer'

    cell "two definitions: the opened library's, the other is not exported"
    lib ctx desc.o big.o defined.o
    exe opened.o small.o defined.o
    reads tlsdesc-dynamic libctx.so TLSDESC './writer ./libctx.so'
}

cells() {
    executables
    linked
    opened
    several
}

# ---- all of them -------------------------------------------------------------

guest() {
    OTELCTX_BUILD=$BUILD "$SUPPORT/guest" "$@"
}

observe_here() {
    (cd "$TMP/cells/x86_64" && "$SUPPORT/observe" "$READ")
}

observe_there() {
    cp "$SUPPORT/observe" "$GUEST/release/usr/bin/otelctx-read" \
        "$TMP/cells/aarch64"
    guest arm64 bookworm "$TMP/cells/aarch64" './observe /work/otelctx-read'
}

target x86_64 glibc gcc -mtls-dialect=gnu2 -mtls-dialect=gnu
cells
only_x86_64
only_glibc

target x86_64 musl musl-gcc -mtls-dialect=gnu2 -mtls-dialect=gnu
cells
only_x86_64

check 'the programs for x86-64 run and are read' observe_here

if grep -q '^ID=debian$' /etc/os-release; then
    check 'Debian packages make an aarch64 guest' \
        guest --prepare arm64 bookworm
    target aarch64 glibc aarch64-linux-gnu-gcc -mtls-dialect=desc \
        -mtls-dialect=trad
    cells
    only_glibc

    target aarch64 musl "$GUEST/musl-gcc" -mtls-dialect=desc \
        -mtls-dialect=trad
    cells

    check 'the programs for aarch64 run and are read' observe_there
else
    skip aarch64 'machine: the guest is made of packages of its Debian'
fi

for ((i = 0; i < ${#FOLDERS[@]}; i++)); do
    # shellcheck disable=SC2086 # words on purpose
    check "${TITLES[i]}: every thread is read, gdb agrees" \
        "$SOURCES/judge" "${FOLDERS[i]}" ${EXPECTED[i]}
done

done_testing
