# SPDX-License-Identifier: Apache-2.0
"""Flask: a thread per request, or what gunicorn gives it."""

import sys
import time

import flask
import truth
from werkzeug.serving import make_server

app = flask.Flask(__name__)
truth.export()


@app.get("/cart/<number>")
def cart(number):
    answer = None
    for answer in truth.stretches("/cart/<number>"):
        time.sleep(0.0005)
    return answer


if __name__ == "__main__":
    make_server("127.0.0.1", 0, app, threaded=True, fd=int(sys.argv[1])).serve_forever()
