#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Servers of the distribution, as they are: while they answer clients, readers see
# the trace of the request that the handler says it works for, and no other.
#
sampler=$OTELCTX_SDK_SAMPLER
work=$OTELCTX_WORK
# shellcheck source=tests/e2e/common.sh
. "$(dirname "$0")/../common.sh"

here=$ROOT/tests/e2e/requests
# As in serving.sh.
ADDRESS=127.$((64 + ($$ >> 16 & 63))).$(($$ >> 8 & 255)).$(($$ & 255))
export TRUTH=$TMP/truth
samples=${SAMPLES:-10000}
chmod 755 "$TMP"

# under COMMAND...: as a user turns it on.
under() {
    exec setsid env LD_PRELOAD="$SHIM:$REQUESTS" OTEL_SERVICE_NAME=birds "$@"
}
# As a user who may write to all that the servers need.
as_bird() {
    under setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

apache_start() {
    cat >apache.conf <<END
ServerRoot $PWD
ServerName localhost
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule php_module $(echo /usr/lib/apache2/modules/libphp*.so)
<FilesMatch \.php$>
    SetHandler application/x-httpd-php
</FilesMatch>
User nobody
Group nogroup
StartServers 4
PidFile apache.pid
Mutex pthread
ErrorLog $PWD/error.log
Listen $ADDRESS:8080
DocumentRoot $PWD
END
    under apache2 -d . -f "$PWD/apache.conf" -DFOREGROUND
}

fpm_before() {
    cat >fpm.conf <<END
[global]
error_log = $PWD/error.log
[www]
user = nobody
group = nogroup
listen = $PWD/socket
listen.mode = 0666
pm = static
pm.max_children = 4
END
    cat >nginx.conf <<END
daemon off;
user nobody nogroup;
pid nginx.pid;
events {}
http {
    access_log off;
    server {
        listen $ADDRESS:8080;
        location / {
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME $PWD/page.php;
            fastcgi_pass unix:$PWD/socket;
            client_body_temp_path $PWD/body;
        }
    }
}
END
    background nginx -p . -c nginx.conf -e stderr
}
fpm_start() {
    under /usr/sbin/php-fpm* -F -y fpm.conf
}

gunicorn_start() {
    export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
    under gunicorn --workers 3 --bind "$ADDRESS:8080" "$@" truth:application
}
gthread_start() {
    gunicorn_start --worker-class gthread --threads 3
}

postgres_before() {
    local bin=(/usr/lib/postgresql/*/bin)

    chmod 777 .
    setpriv --reuid=65534 --regid=65534 --clear-groups \
        "${bin[-1]}/initdb" -A trust -U bird --no-sync -D data
}
postgres_start() {
    local bin=(/usr/lib/postgresql/*/bin)

    PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 as_bird "${bin[-1]}/postgres" \
        -D data -F -k "$PWD" -h "$ADDRESS" -p 8080 -c fsync=off
}
postgres_after() {
    psql -qX -h "$PWD" -p 8080 -U bird postgres <<'END'
create extension plpython3u;
create function work(ids text, route text) returns int language plpython3u as
    'import truth; truth.work(ids, route); return 1';
END
}

mariadb_before() {
    mkdir -m 777 data plugins
    cp "$work" plugins/work.so
    chmod 777 .
    cat >init.sql <<'END'
create user bird;
grant all on *.* to bird;
create function works returns integer soname 'work.so';
END
    { # as mariadb-install-db does
        printf '%s\n' 'create database mysql;' 'use mysql;'
        cat /usr/share/mysql/mysql_system_tables.sql
    } | mariadbd --no-defaults --user=nobody --datadir="$PWD/data" --bootstrap
}
mariadb_start() {
    under mariadbd --no-defaults --user=nobody --datadir="$PWD/data" \
        --socket="$PWD/socket" --bind-address="$ADDRESS" --port=8080 \
        --skip-name-resolve --plugin-dir="$PWD/plugins" \
        --init-file="$PWD/init.sql"
}

# serve NAME PROTOCOL SHARE: the server NAME_start, with clients: SHARE of 100
# samples inside a handler show its request, and none shows another.
serve() {
    local server load tries

    mkdir "$TMP/$1"
    cd "$TMP/$1" || return
    truncate -s 0 "$TRUTH"
    truncate -s $((4096 * 64)) "$TRUTH"
    chmod 666 "$TRUTH"
    sed "s,TRUTH,$TRUTH," "$here/page.php" >page.php
    ! declare -F "$1_before" >/dev/null || "$1_before" >before 2>&1
    background "$1_start" >log 2>&1
    server=$PID
    for ((tries = 0; tries < 1200; tries++)); do
        ! : <>"/dev/tcp/$ADDRESS/8080" || break
        sleep 0.05
    done 2>/dev/null
    ! declare -F "$1_after" >/dev/null || "$1_after"
    background python3 "$here/load.py" "$2" "$ADDRESS" 8080 4 >loaded 2>&1
    load=$PID
    "$sampler" "$TRUTH" "$samples" 120 >counts 2>wrong || :
    kill "$load" || :
    kill -INT "$server" || :
    judge "$1" "$3"
    kill -KILL -- "-$server" 2>/dev/null || :
    tap_stop 2>/dev/null
    cd "$TMP"
}

# The same, and the samples show the route, those of requests without a trace, too.
serve_routed() {
    export OTELCTX_REQUEST_ATTRIBUTES=http.request.method,http.route
    serve "$@"
    unset OTELCTX_REQUEST_ATTRIBUTES
}

judge() {
    local -A count=()
    local name value

    while read -r name value; do
        count[$name]=$value
    done < <(xargs -n 2 <counts)
    echo "# $1: $(<counts)"
    check "$1: $samples samples in handlers" enough "${count[samples]:-0}"
    same "$1: no sample shows another request" 'wrong 0' \
        "wrong ${count[wrong]-}$(head -c 2000 wrong)"
    check "$1: at least $2 of 100 samples show the request" \
        test $((${count[shown]:-0} * 100)) -ge $((${count[samples]:-1} * $2))
    [ -z "${OTELCTX_REQUEST_ATTRIBUTES-}" ] ||
        same "$1: with its route, all of them" \
            "routes ${count[shown]-} misrouted 0 unrouted 0" \
            "routes ${count[routes]-} misrouted ${count[misrouted]-} unrouted ${count[unrouted]-}"
}
enough() {
    [ "$1" -ge "$samples" ] || {
        tail -n 20 log loaded
        return 1
    }
}

[ $# -gt 0 ] || set -- apache fpm gunicorn gthread postgres mariadb
for name; do
    case $name in
    apache | fpm) serve "$name" '/page.php?' 99 ;;
    gunicorn | gthread) serve_routed "$name" / 99 ;;
    postgres) serve_routed postgres postgresql 99 ;;
    mariadb) serve mariadb mysql 99 ;;
    esac
done
done_testing
