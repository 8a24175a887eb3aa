# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Real commands for commands.sh, one per row. Each runs in a new folder with the
# files of data/, a repository, and the files that commands.sh prepares:
#
#     row PACKAGE STATUS MARKS SENTENCE COMMAND...
#
# MARKS, separated by commas, or "-": "threads" if a process of the command has more
# than one, "forks" if one forks (rather than vforks). Each row fails if the shim
# changes the command's output or exit status, by descriptors, signals or errno, or
# disturbs its threads or forks.
#
# shellcheck disable=SC2016 # it is the commands that expand

# Shells.
row bash 4 forks 'runs a script' bash pipeline
row dash 4 forks 'runs a script' dash pipeline
row ksh93u+m 4 forks 'runs a script' ksh93 pipeline
row mksh 4 forks 'runs a script' mksh pipeline
row zsh 4 forks 'runs a script' zsh pipeline
row tcsh 4 forks 'runs a script' tcsh -f pipeline.csh
row fish 4 threads 'runs a script' fish --no-config pipeline.fish
row bash 137 - 'is killed' sh -c "bash -c 'echo soon; kill -KILL \$\$'"
row bash 0 forks 'substitutes processes' \
    bash -c 'diff <(seq 1 2 99 | tac) <(seq 99 -2 1) && echo same; wait'

# Small tools.
row coreutils 0 threads 'sorts in threads' sort -k 1.3 --parallel=4 -o /dev/stdout numbers
row coreutils 2 - 'lists what is not there' ls -ld words /nowhere
row coreutils 124 forks 'ends a command in time' timeout -v 0.1 sleep 60
row coreutils 0 - 'closes its streams' bash -c 'cat words >&- 2>&- || echo $?'
row findutils 0 forks 'finds and runs' find . -name '*.p[yl]' -execdir wc -l {} ';'
row findutils 123 forks 'runs two at a time' \
    bash -c 'seq 9 | xargs -n 1 -P 2 sh -c "echo \$0; exit \$((\$0 > 8))" | sort; exit "${PIPESTATUS[1]}"'
row grep 1 - 'finds nothing' grep -rc nowhere.to.be.found words numbers
row sed 0 - 'edits' sed -E 's/(.)(.*)/\2\1/; 3,5d; w written' words
row gawk 0 forks 'converses with a command' gawk -f sorted.awk words
row mawk 2 - 'computes and fails' mawk '{n += length} END {print n; getline < "nowhere"; exit 2}' words
row diffutils 1 - 'finds differences' diff -u words pipeline
row patch 1 - 'rejects a change' patch --dry-run words wrong.diff
row bc 0 - 'computes pi' bc -l digits.bc
row m4 1 - 'expands macros' m4 macros.m4
row ed 1 - 'edits in vain' sh -c 'printf "2s/e/E/g\n1,3p\nnonsense\nQ\n" | ed -s words'
row file 0 - 'knows files' file -i words page.html threads.c /bin/sh /bin/true
row jq 5 - 'queries JSON' jq -n '[range(5) | {n: ., s: (. * .)}], ("a" | error)'
row procps 1 - 'reads settings' sysctl kernel.ostype no.such.name
row util-linux 0 forks 'locks a file for a command' flock words sh -c 'sort words | rev'
row socat 0 forks 'joins a command' socat -u EXEC:'sort words' STDOUT
row expect 2 threads,forks 'holds a dialogue' expect dialogue.exp
row parallel 2 forks 'runs two at a time' parallel --will-cite -k -j 2 'echo {}; exit {}' ::: 0 1 1

# Archives.
row tar 0 forks 'packs and lists' \
    sh -c 'tar -czf - --sort=name --mtime=@0 --owner=0 --group=0 module package *.c | tee packed | tar -tvzf - && sha256sum packed'
row tar 2 forks 'cannot unpack' tar -xzf words
row cpio 0 - 'packs' sh -c 'ls *.c | cpio -o --reproducible -H newc | cpio -t'
row xz-utils 0 threads 'compresses in threads' xz -T 4 --block-size=256KiB -c numbers
row zstd 0 threads 'compresses in threads' zstd -q -T4 -B262144 -c numbers
row pigz 0 threads 'compresses in threads' pigz -p 4 -c -n numbers
row bzip2 2 - 'finds damage' bzip2 -tv words
row zip 0 - 'packs' sh -c 'zip -X packed.zip words *.c && cat packed.zip | md5sum'

# Compilers and similar tools.
row gcc 1 - 'reports what is broken' gcc -fdiagnostics-color=always -c broken.c
row gcc 0 - 'compiles to assembly' gcc -O2 -S -o - threads.c
row g++ 1 - 'reports what is broken' g++ -std=c++17 -fsyntax-only broken.cpp
row clang 1 - 'reports what is broken' clang -Weverything -c broken.c
row binutils 1 - 'misses a symbol' sh -c 'as -o empty.o </dev/null && ld -u missing -e 0 --no-undefined --defsym a=missing empty.o'
row binutils 0 - 'disassembles' objdump -d -C threads
row lld 0 threads 'links in threads' ld.lld --threads=4 -pie -Map=/dev/stdout -o linked crt.o
row make 2 forks 'builds and fails' make
row cmake 0 forks 'configures' cmake -S . -B built -G Ninja
row ninja-build 1 - 'builds and fails' ninja -j 1
row bison 0 - 'reports conflicts' bison -Wcounterexamples -o /dev/null calc.y
row flex 0 forks 'generates' flex -L -t words.l
row gdb 0 threads 'shows a program' gdb -nx -batch -ex 'info line main' -ex 'disassemble square' -ex 'ptype square' threads
row valgrind 9 threads,forks 'finds a leak' \
    bash -c 'set -o pipefail; valgrind -q --leak-check=full --error-exitcode=9 ./threads 2>&1 | sed "s/==[0-9]*==//"'
row protobuf-compiler 1 - 'rejects a schema' protoc -I . --descriptor_set_out=/dev/null broken.proto

# Languages.
row python3 0 threads,forks 'forks a pool' /usr/bin/python3 pool.py
row python3 1 threads 'raises in a thread' /usr/bin/python3 raises.py
row perl 0 forks 'reads from children' perl forks.pl
row perl 0 threads 'computes in threads' perl threads.pl
row ruby 0 threads,forks 'forks with threads' ruby forks.rb
row nodejs 1 threads 'computes in workers' node workers.js
row nodejs 0 threads 'packs a module' npm pack --dry-run --offline --no-update-notifier ./module
row openjdk-17-jdk-headless 1 threads 'computes in threads' java -cp classes Sums
row openjdk-17-jdk-headless 1 threads 'reports what is broken' javac -d . Broken.java
row golang-go 1 threads 'runs a program with libc' go run threads.go
row php-cli 255 forks 'forks' php forks.php
row lua5.4 8 - 'runs a command' lua5.4 tree.lua
row tcl 1 threads 'computes in threads' tclsh pipes.tcl
row guile-3.0 1 threads,forks 'computes in threads, forks' guile --no-auto-compile threads.scm
row sbcl 9 threads 'computes in threads' sbcl --script threads.lisp
row erlang-base 6 threads,forks 'computes in tasks' erl -noshell -s tasks main

# Databases and servers, as commands.
postgres=$(compgen -G '/usr/lib/postgresql/*/bin' | tail -n 1)
row sqlite3 1 - 'computes and refuses' sqlite3 -bail birds.db '.read schema.sql'
row postgresql-15 1 - 'refuses to be root' "$postgres/postgres" -D nowhere
row postgresql-15 0 - 'makes a database' \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$postgres/initdb" --no-sync -D cluster
row redis-tools 1 - 'meets no server' redis-cli -s nowhere.sock ping
row redis-server 1 - 'rejects its settings' redis-server --maxmemory nonsense
row nginx 1 - 'rejects its settings' nginx -e /dev/null -p . -c nginx.conf -t
row apache2-bin 1 - 'rejects its settings' apache2 -t -f apache.conf -d .
row haproxy 0 - 'reads its settings' haproxy -c -V -f haproxy.cfg

# Network tools.
row openssh-client 255 - 'meets no server' ssh -F none -o BatchMode=yes -p 1 127.0.0.1 true
row openssh-client 0 - 'reads a key' ssh-keygen -l -v -f key.pub
row curl 7 - 'meets no server' \
    curl -s --max-time 99 -w '%{exitcode} %{url_effective}\n' file://"$WORK"/words http://localhost:1/
row wget 4 - 'meets no server' wget -nv -t 1 http://127.0.0.1:1/
row openssl 1 - 'verifies in vain' openssl dgst -sha256 -verify words -signature words words
row openssl 0 - 'encrypts' openssl enc -aes-256-cbc -pbkdf2 -S 0102030405060708 -k secret -a -in numbers
row gnupg 2 - 'is no message' gpg --homedir . --batch --list-packets words
row rsync 0 forks 'copies' rsync -a --out-format='%o %n %l' module package copied
row rsync 23 forks 'copies what is not there' rsync -a words nowhere copied

# Git and packages.
row git 0 - 'shows its history' git -C repository log -p --stat --graph
row git 1 - 'cannot merge' git -C repository merge --no-ff theirs
row git 0 threads,forks 'packs in threads' \
    sh -c 'git -C repository -c pack.threads=4 repack -q -a -d -f && git -C repository fsck --strict && git -C repository rev-list --objects --all | sha256sum'
row git 0 forks 'clones and checks' sh -c 'git clone -q --no-local repository clone && git -C clone fsck --strict && git -C clone rev-parse HEAD'
row dpkg 0 forks 'builds a package' sh -c 'dpkg-deb -b --root-owner-group package . && dpkg-deb -I birds_1_all.deb && dpkg-deb -c birds_1_all.deb'
row dpkg 1 - 'knows no such package' dpkg-query -s no-such-package bash
row apt 100 - 'knows no such package' apt-get -s install no-such-package

# Pictures, sound and pages.
row ffmpeg 0 threads 'encodes in threads' \
    ffmpeg -v error -threads 4 -f lavfi -i testsrc=s=320x240:d=1 -c:v libx264 -threads 4 -bitexact -f framemd5 -
row imagemagick 0 - 'draws' convert-im6.q16 -size 300x300 gradient:red-blue -blur 0x4 -swirl 90 -resize 60% -strip ppm:-
row graphviz 0 - 'draws a graph' dot -Tsvg graph.dot
row gnuplot-nox 1 - 'plots and fails' gnuplot plot.gp
row ghostscript 0 - 'makes a PDF, and text of it' sh -c 'gs -q -dNOSAFER -sDEVICE=pdfwrite -o page.pdf page.ps && gs -q -sDEVICE=txtwrite -o - page.pdf'
row poppler-utils 1 - 'reads no PDF' pdftotext words -
row groff 0 forks 'formats with tables' groff -t -ms -Tutf8 notes.ms
row chromium-headless-shell 0 threads,forks 'runs a page' \
    sh -c 'chromium-headless-shell --no-sandbox --disable-gpu --disable-dev-shm-usage --virtual-time-budget=2000 --user-data-dir=profile --dump-dom "file://$PWD/page.html" 2>/dev/null'
row libglib2.0-bin 2 - 'finds no file' gio cat nowhere
