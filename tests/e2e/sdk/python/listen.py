# SPDX-License-Identifier: Apache-2.0
"""Usage: listen.py FILE COMMAND...: runs the command with a listening socket, whose
descriptor replaces {fd} in it; its port is in FILE."""

import os
import socket
import sys

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(1024)
listener.set_inheritable(True)
with open(sys.argv[1] + ".new", "w") as file:
    print(listener.getsockname()[1], file=file)
os.rename(sys.argv[1] + ".new", sys.argv[1])
command = [word.replace("{fd}", str(listener.fileno())) for word in sys.argv[2:]]
os.execvp(command[0], command)
