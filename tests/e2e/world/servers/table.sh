# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Servers for servers.sh, each in a folder of its own with nothing but "words":
#
#     server NAME PROCESSES SENTENCE [SIGNAL]
#
# NAME_start runs the server in the foreground, finally by `serve`. NAME_ask prints
# the server's answer, and fails until there is one. Then the server has PROCESSES
# processes. SIGNAL (TERM by default) ends it.

web_ask() {
    curl -sS --fail --max-time 20 "http://$ADDRESS:8080/words" -o -
}

server nginx 5 'nginx with four workers'
nginx_start() {
    cat >nginx.conf <<END
daemon off;
user nobody nogroup;
worker_processes 4;
pid nginx.pid;
events {}
http {
    access_log off;
    server {
        listen $ADDRESS:8080;
        root $PWD;
    }
}
END
    serve nginx -p . -c nginx.conf -e stderr
}
nginx_ask() { web_ask; }

server prefork 5 'apache2 with four processes'
server threaded 3 'apache2 with processes and threads'
apache_start() {
    cat >apache.conf <<END
ServerRoot $PWD
ServerName localhost
LoadModule mpm_$1_module /usr/lib/apache2/modules/mod_mpm_$1.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
User nobody
Group nogroup
StartServers $2
PidFile apache.pid
Mutex pthread
ErrorLog /dev/null
Listen $ADDRESS:8080
DocumentRoot $PWD
END
    serve apache2 -d . -f "$PWD/apache.conf" -DFOREGROUND
}
prefork_start() { apache_start prefork 4; }
prefork_ask() { web_ask; }
threaded_start() { apache_start event 2; }
threaded_ask() { web_ask; }

server lighttpd 4 'lighttpd with three workers'
lighttpd_start() {
    cat >lighttpd.conf <<END
server.bind = "$ADDRESS"
server.port = 8080
server.document-root = "$PWD"
server.max-worker = 3
server.username = "nobody"
END
    serve lighttpd -D -f lighttpd.conf
}
lighttpd_ask() { web_ask; }

server haproxy 2 'haproxy with a master and threads'
haproxy_start() {
    cat >haproxy.cfg <<END
global
    nbthread 4
defaults
    mode http
    timeout client 9s
    timeout server 9s
    timeout connect 9s
frontend web
    bind $ADDRESS:8080
    http-request return content-type text/plain string found hdr X-Path "%[path]"
END
    serve haproxy -W -f haproxy.cfg
}
haproxy_ask() { web_ask; }

server fpm 4 'PHP-FPM with three workers'
fpm_start() {
    cat >fpm.conf <<END
[global]
error_log = /dev/null
[www]
user = nobody
group = nogroup
listen = $PWD/socket
pm = static
pm.max_children = 3
END
    serve /usr/sbin/php-fpm* -F -y fpm.conf
}
fpm_ask() {
    # shellcheck disable=SC2016 # PHP's
    echo '<?= hash("sha256", $_SERVER["QUERY_STRING"]);' >page.php
    SCRIPT_FILENAME=$PWD/page.php REQUEST_METHOD=GET QUERY_STRING=a=b \
        cgi-fcgi -bind -connect socket
}

server php 4 'PHP with three workers'
php_start() {
    serve env PHP_CLI_SERVER_WORKERS=3 php -S "$ADDRESS:8080"
}
php_ask() { web_ask; }

server redis 2 'redis-server, while it saves'
redis_start() {
    serve redis-server --port 0 --unixsocket socket --save '' \
        --rdb-key-save-delay 30000000
}
redis_ask() {
    local redis=(redis-cli -s socket)

    "${redis[@]}" ping || return
    seq 2000 | sed 's/.*/RPUSH list &/' | "${redis[@]}" --pipe
    "${redis[@]}" lrange list 1000 1020
    "${redis[@]}" bgsave
}

server memcached 1 'memcached with threads'
memcached_start() {
    serve memcached -u root -s "$PWD/socket" -a 0777 -t 4
}
memcached_ask() {
    printf 'set bird 0 0 5\r\nheron\r\nget bird\r\nquit\r\n' |
        socat -t 20 - UNIX-CONNECT:socket
}

server postgres 7 'postgres, with a session' INT
postgres_start() {
    local bin=(/usr/lib/postgresql/*/bin)
    local nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

    chmod 777 .
    "${nobody[@]}" "${bin[-1]}/initdb" -A trust -U bird --no-sync -D data >/dev/null
    serve "${nobody[@]}" "${bin[-1]}/postgres" -D data -F -k "$PWD" \
        -c listen_addresses= -c fsync=off
}
postgres_ask() {
    local psql=(psql -X -h "$PWD" -U bird -d postgres -v ON_ERROR_STOP=1)

    "${psql[@]}" -A -c 'create table n as select generate_series(1, 200000) as i' \
        -c 'set parallel_setup_cost = 0' -c 'set parallel_tuple_cost = 0' \
        -c 'set min_parallel_table_scan_size = 0' \
        -c 'select count(*), sum(i), max(i) from n' || return
    background "${psql[@]}" -c 'select pg_sleep(600)' >/dev/null 2>&1
}

# sshd starts programs with a new environment, without the shim.
server sshd 4 'sshd, with a session'
sshd_start() {
    mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f host
    ssh-keygen -q -t ed25519 -N '' -f key
    echo "$ADDRESS $(<host.pub)" >known
    serve /usr/sbin/sshd -D -e -f /dev/null -h "$PWD/host" -o "ListenAddress=$ADDRESS:8022" \
        -o "AuthorizedKeysFile=$PWD/key.pub" -o StrictModes=no -o UsePAM=no \
        -o PermitRootLogin=yes -o PidFile=none -o "SetEnv=LD_PRELOAD=${preload:-}"
}
sshd_ask() {
    local ssh=(ssh -F none -i key -o UserKnownHostsFile=known -o BatchMode=yes
        -p 8022 "root@$ADDRESS")

    "${ssh[@]}" "sort $PWD/words; exit 7" || [ $? = 7 ] || return
    background "${ssh[@]}" 'sleep 600; true' >/dev/null 2>&1
}

server http 1 'python3'\''s http.server'
http_start() {
    serve /usr/bin/python3 -m http.server --bind "$ADDRESS" 8080
}
http_ask() { web_ask; }

server gunicorn 4 'gunicorn with three workers'
gunicorn_start() {
    cat >app.py <<'END'
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode(), b"\n"]
END
    serve gunicorn --workers 3 --bind "$ADDRESS:8080" app:app
}
gunicorn_ask() { web_ask; }

server node 3 'node with a cluster'
node_start() {
    cat >cluster.js <<END
const cluster = require('cluster');
if (cluster.isPrimary) {
  cluster.fork();
  cluster.fork();
} else {
  require('http').createServer((request, response) => response.end(request.url))
    .listen(8080, '$ADDRESS');
}
END
    serve node cluster.js
}
node_ask() { web_ask; }

server java 1 'Java with a pool of threads'
java_start() {
    cat >Server.java <<END
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

class Server {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("$ADDRESS", 8080), 0);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/", exchange -> {
            byte[] path = exchange.getRequestURI().getPath().getBytes();
            exchange.sendResponseHeaders(200, path.length);
            exchange.getResponseBody().write(path);
            exchange.close();
        });
        server.start();
    }
}
END
    serve java Server.java
}
java_ask() { web_ask; }

server git 2 'git daemon'
git_start() {
    fixed sh -ec 'git init -q birds.git && cd birds.git && git commit -q --allow-empty -m none'
    serve git daemon --export-all --base-path="$PWD" --listen="$ADDRESS" --reuseaddr
}
git_ask() {
    git ls-remote "git://$ADDRESS/birds.git"
}

server rsync 1 'rsync as a daemon'
rsync_start() {
    printf '%s\n' 'use chroot = no' '[here]' "path = $PWD" >rsyncd.conf
    serve rsync --daemon --no-detach --address="$ADDRESS" --port=8873 \
        --config=rsyncd.conf
}
rsync_ask() {
    rsync --out-format='%n %l' "rsync://$ADDRESS:8873/here/words" copied
    cat copied
}
