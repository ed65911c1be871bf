// What the other figures are multiples of.
#include <xtensor/xtensor.hpp>

int main() {}
