;; SPDX-License-Identifier: Apache-2.0
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(print (mapcar #'sb-thread:join-thread
               (loop for n from 1 to 12
                     collect (let ((n n)) (sb-thread:make-thread (lambda () (fib n)))))))
(sb-ext:run-program "/usr/bin/sort" '("words") :output *standard-output*)
(finish-output)
(sb-ext:exit :code 9)
