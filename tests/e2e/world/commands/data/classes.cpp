// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <future>
#include <iostream>
#include <map>
#include <string>
#include <vector>

int main()
{
    std::map<std::string, std::future<long>> sums;
    for (long n : {10, 100, 1000})
        sums["up to " + std::to_string(n)] = std::async(std::launch::async, [n] {
            std::vector<long> v(n);
            std::generate(v.begin(), v.end(), [i = 0L]() mutable { return i++; });
            long sum = 0;
            for (long x : v)
                sum += x;
            return sum;
        });
    for (auto &[name, sum] : sums)
        std::cout << name << ": " << sum.get() << '\n';
}
