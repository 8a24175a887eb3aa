// SPDX-License-Identifier: Apache-2.0
template <typename T, int N> struct Row {
    static_assert(N > 3, "too short");
    T cells[N];
};
template <typename T> auto twice(T value) -> decltype(value + value);
struct Bird {
};
Row<int, 2> row;
auto birds = twice(Bird());
