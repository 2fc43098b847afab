#include "app/programs.h"

int main(int argc, char** argv) {
    return dormouse::cli::run(
        argc, argv,
        {dormouse::app::serve, dormouse::app::verify, dormouse::app::config, DORMOUSE_VERSION});
}
