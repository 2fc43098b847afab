#pragma once
// Values that are stored apart from the object they belong to, so that it stays small where they
// are large and rare. Copies are deep: two owners never share one. Like std::indirect (C++26).

#include "base/check.h"

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace dormouse {

// Always has a value, except after a move from it: then it may only be assigned to or destroyed.
template <class T> class Indirect {
public:
    Indirect() : value_(std::make_unique<T>()) {}
    template <class U = T>
        requires std::constructible_from<T, U> && (!std::same_as<std::remove_cvref_t<U>, Indirect>)
    Indirect(U&& value) : value_(std::make_unique<T>(std::forward<U>(value))) {}
    Indirect(Indirect const& other) : value_(std::make_unique<T>(*other)) {}
    Indirect(Indirect&& other) noexcept = default;
    Indirect& operator=(Indirect const& other) {
        if (this != &other) value_ = std::make_unique<T>(*other);
        return *this;
    }
    Indirect& operator=(Indirect&& other) noexcept = default;
    ~Indirect() = default;

    [[nodiscard]] T& operator*() { return *value_; }
    [[nodiscard]] T const& operator*() const { return *value_; }
    [[nodiscard]] T* operator->() { return value_.get(); }
    [[nodiscard]] T const* operator->() const { return value_.get(); }
    operator T const&() const { return *value_; }

    friend bool operator==(Indirect const& a, Indirect const& b) { return *a == *b; }

private:
    std::unique_ptr<T> value_;
};

// Has a value or none; the part of std::optional's interface that is used here.
template <class T> class OptionalIndirect {
public:
    using value_type = T;

    OptionalIndirect() = default;
    OptionalIndirect(std::nullopt_t) {}
    OptionalIndirect(T value) : value_(std::make_unique<T>(std::move(value))) {}
    OptionalIndirect(std::optional<T> value)
        : value_(value ? std::make_unique<T>(*std::move(value)) : nullptr) {}
    OptionalIndirect(OptionalIndirect const& other)
        : value_(other ? std::make_unique<T>(*other) : nullptr) {}
    OptionalIndirect(OptionalIndirect&& other) noexcept = default;
    OptionalIndirect& operator=(OptionalIndirect const& other) {
        if (this != &other) value_ = other ? std::make_unique<T>(*other) : nullptr;
        return *this;
    }
    OptionalIndirect& operator=(OptionalIndirect&& other) noexcept = default;
    ~OptionalIndirect() = default;

    template <class... Arguments> T& emplace(Arguments&&... arguments) {
        value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
        return *value_;
    }
    void reset() { value_.reset(); }

    [[nodiscard]] bool has_value() const { return value_ != nullptr; }
    explicit operator bool() const { return has_value(); }
    operator std::optional<T>() const { return value_ ? std::optional<T>(*value_) : std::nullopt; }
    // REQUIRES: has_value().
    [[nodiscard]] T& operator*() & { return held(); }
    [[nodiscard]] T const& operator*() const& { return held(); }
    [[nodiscard]] T&& operator*() && { return std::move(held()); }
    [[nodiscard]] T* operator->() { return &held(); }
    [[nodiscard]] T const* operator->() const { return &held(); }

    friend bool operator==(OptionalIndirect const& a, OptionalIndirect const& b) {
        return a.has_value() == b.has_value() && (!a || *a == *b);
    }
    friend bool operator==(OptionalIndirect const& a, std::nullopt_t) { return !a; }

private:
    [[nodiscard]] T& held() const {
        CHECK(value_ != nullptr);
        return *value_;
    }

    std::unique_ptr<T> value_;
};

}  // namespace dormouse
