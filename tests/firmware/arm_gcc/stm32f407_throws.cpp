// C++ as a desktop has it: exceptions through frames with destructors, run-time types, containers, a constructor before
// main.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int destroyed;

struct Guard {
    ~Guard() { destroyed++; }
};

struct TooDeep : std::runtime_error {
    explicit TooDeep(int at) : std::runtime_error("too deep at " + std::to_string(at)) {}
};

int descend(int depth) {
    Guard guard;

    if (depth == 20) {
        throw TooDeep(depth);
    }
    return descend(depth + 1) + 1;
}

struct Shape {
    virtual ~Shape() = default;
    virtual const char *name() const { return "shape"; }
};

struct Square : Shape {
    const char *name() const override { return "square"; }
};

const std::map<std::string, int> before_main{{"one", 1}, {"two", 2}, {"three", 3}};

}

int main() {
    try {
        descend(0);
    } catch (const std::runtime_error &error) {
        std::printf("%s, %d destroyed\n", error.what(), destroyed);
    }
    try {
        std::vector<int>(3).at(3) = 1;
    } catch (const std::out_of_range &) {
        std::printf("out of range\n");
    }
    std::unique_ptr<Shape> shape(new Square);
    Shape plain;
    try {
        dynamic_cast<Square &>(plain);
    } catch (const std::bad_cast &) {
        std::printf("a %s is a square, a %s is not\n", shape->name(), plain.name());
    }
    int sum = 0;
    for (const auto &[word, number] : before_main) {
        sum += number * static_cast<int>(word.size());
    }
    std::printf("map %d\n", sum);
    std::fflush(stdout);
    return destroyed == 21 ? 0 : 1;
}
