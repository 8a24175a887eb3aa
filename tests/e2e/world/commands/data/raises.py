# SPDX-License-Identifier: Apache-2.0
import threading


def fail():
    raise ValueError("in a thread")


thread = threading.Thread(target=fail, name="failing")
thread.start()
thread.join()
raise SystemExit("and then at all")
