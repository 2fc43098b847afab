#include "app/observe.h"

namespace dormouse::app {

io::LogOptions log_options(cli::ServeOptions const& options) {
    using Form = io::LogOptions::Form;
    io::LogOptions out;
    if (options.log_level == "debug") out.level = io::LogLevel::debug;
    if (options.log_level == "warn") out.level = io::LogLevel::warn;
    if (options.log_level == "error") out.level = io::LogLevel::error;
    if (options.log_level == "off") out.level = io::LogLevel::off;
    if (options.log_format == "text") out.form = Form::text;
    if (options.log_format == "json") out.form = Form::json;
    return out;
}

}  // namespace dormouse::app
