// An interceptor between the runtime and the model: it redacts card numbers in requests, and adds a
// signature to answers.
//
// Prints:
//   the model saw: My card is [card].
//   it said: I saw no card. -- the bank
//   the journal has: My card is 4242424242424242.
#include <dormouse/dormouse.h>

#include <iostream>
#include <regex>

int main() {
    std::string seen;
    auto const model = dormouse::model_from(
        [&seen](dormouse::ModelQuestion const& question,
                std::stop_token const&) -> dormouse::Result<dormouse::ModelAnswer> {
            seen = question.asked();
            return dormouse::ModelAnswer{.text = "I saw no card.", .calls = {}};
        });
    dormouse::ModelInterceptor const redact{
        .name = "redact",
        .before = [](dormouse::ModelQuestion& question)
            -> dormouse::Result<std::optional<dormouse::ModelAnswer>> {
            static std::regex const card("[0-9]{16}");
            for (auto& message : question.messages)
                message.text = std::regex_replace(message.text, card, "[card]");
            return std::nullopt;
        },
        .after = [](dormouse::ModelQuestion const&,
                    dormouse::ModelAnswer& answer) -> dormouse::Result<void> {
            answer.text += " -- the bank";
            return {};
        }};
    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "clerk", .model = model.through(redact)}},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;
    auto const session =
        runtime->create({.agent = "clerk", .prompt = "My card is 4242424242424242."}).value();
    if (!runtime->wait_idle(session)) return 1;
    std::cout << "the model saw: " << seen << '\n';
    std::cout << "it said: " << runtime->last_reply(session).value() << '\n';
    std::cout << "the journal has: " << runtime->messages(session)->at(0).text << '\n';
}
