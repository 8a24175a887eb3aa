# SPDX-License-Identifier: Apache-2.0
"""Celery: tasks in forked processes; messages and results are files.

    celery -A celery_app worker --pool prefork
    python3 celery_app.py COUNT            sends tasks, prints what they return
"""

import os
import sys
import time

import celery

folder = os.environ["BROKER"]
app = celery.Celery("celery_app", broker="filesystem://", backend=f"file://{folder}/results")
app.conf.broker_transport_options = {
    "data_folder_in": f"{folder}/messages",
    "data_folder_out": f"{folder}/messages",
    "control_folder": f"{folder}/control",
}
app.conf.worker_hijack_root_logger = False


@celery.signals.worker_process_init.connect(weak=False)
def process_started(**_):
    import truth

    truth.export()


@app.task
def work():
    import truth

    answer = None
    for answer in truth.stretches(""):
        time.sleep(0.0005)
    return answer


def main():
    sent = {}
    for number in range(int(sys.argv[1])):
        trace_id = f"{number + 1:032x}"
        traceparent = f"00-{trace_id}-{number + 1:016x}-01"
        sent[trace_id] = work.apply_async(headers={"traceparent": traceparent})
    for trace_id, result in sent.items():
        answer = result.get(timeout=300)
        assert answer.startswith(trace_id), (trace_id, answer)
        print(answer)


if __name__ == "__main__":
    main()
