// SPDX-License-Identifier: Apache-2.0
// Names of functions and texts that a failing program writes without allocation.
#include "sys/brief_name.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

namespace {

std::string brief(const char* symbol) {
    char text[300];
    sennit::sys::bounded_text to(text, sizeof text);
    sennit::sys::write_brief_name(to, symbol);
    return text;
}

std::string closure(const char* symbol) {
    char text[300];
    sennit::sys::bounded_text to(text, sizeof text);
    if (const char* const found = sennit::sys::closure_in(symbol))
        sennit::sys::write_brief_closure(to, found);
    return text;
}

TEST(bounded_text, cuts_the_text_off_where_the_buffer_ends) {
    char text[8];
    sennit::sys::bounded_text(text, sizeof text) << "one" << 23u << "four";
    EXPECT_STREQ(text, "one23fo");
    sennit::sys::bounded_text(text, 1) << "one";
    EXPECT_STREQ(text, "");
}

TEST(bounded_text, writes_numbers) {
    char text[64];
    sennit::sys::bounded_text(text, sizeof text)
        << 0u << " " << UINT64_MAX << " " << sennit::sys::hex_number{0xA0}
        << sennit::sys::hex_number{0};
    EXPECT_STREQ(text, "0 18446744073709551615 0xa00x0");
}

TEST(brief_name, leaves_out_parameters_and_template_arguments) {
    EXPECT_EQ(brief("_Z5servei"), "serve");
    EXPECT_EQ(brief("_ZL5servei"), "serve");
    EXPECT_EQ(brief("_Z4sortIiEvPT_"), "sort");
    EXPECT_EQ(brief("_ZN5store4findIiEEvT_"), "store::find");
    EXPECT_EQ(brief("_ZN1BIPiLin1EE1C1hEv"), "B::C::h");
    EXPECT_EQ(brief("_ZN12_GLOBAL__N_15serveEi"), "(anonymous namespace)::serve");
    EXPECT_EQ(brief("_ZNSt8functionIFvvEED1Ev"), "std::function::~function");
    EXPECT_EQ(brief("_ZNK12_GLOBAL__N_11AeqERKS0_"), "(anonymous namespace)::A::operator");
    EXPECT_EQ(brief("_ZNK1AclEi"), "A::operator()");
    EXPECT_EQ(brief("_ZN6daemon5serveEi.cold"), "daemon::serve");
}

TEST(brief_name, names_a_closure_after_its_function) {
    EXPECT_EQ(brief("_ZZ4mainENKUlvE_clEv"), "main::lambda");
    EXPECT_EQ(brief("_ZZ4mainENKUlvE10_clEv"), "main::lambda");
    EXPECT_EQ(brief("_ZZZN12_GLOBAL__N_15serveEiENKUliE_clEiENKUlvE_clEv"),
              "(anonymous namespace)::serve::lambda::lambda");
    EXPECT_EQ(brief("_ZZN12_GLOBAL__N_15serveEiEN5local2goEv"),
              "(anonymous namespace)::serve::local::go");
}

TEST(brief_name, writes_other_symbols_as_they_are) {
    EXPECT_EQ(brief("main"), "main");
    EXPECT_EQ(brief("_ZN1BIiLi2EEcvbEv"), "_ZN1BIiLi2EEcvbEv"); // a conversion
    EXPECT_EQ(brief("_ZN9undefinedsomething"), "_ZN9undefinedsomething");
    EXPECT_EQ(brief("_Z99short"), "_Z99short");
}

TEST(brief_name, finds_the_closure_in_the_arguments_of_a_template) {
    EXPECT_EQ(closure("_ZN6sennit3fibIZ4mainEUlvE0_E3runES1_"), "main::lambda");
    EXPECT_EQ(closure("_ZSt10__invoke_rIvRZN4shop5serveEiEUlvE_JEEvOT_"), "shop::serve::lambda");
    EXPECT_EQ(closure("_ZNSt17_Function_handlerIFvvEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data"),
              "main::lambda");
    EXPECT_EQ(closure("_ZN6sennit3fibIZ5serveiE3$_0E3runES1_"), "serve::lambda"); // by clang
    EXPECT_EQ(closure("_ZN6sennit3fibISt8functionIFvvEEE3runES3_"), "");
    // A closure inside of the library says nothing about the program.
    EXPECT_EQ(closure("_ZN6sennit3fibIZNS_3runEvEUlvE_E3runES1_"), "run::lambda")
        << "a name that repeats an earlier one is not followed";
    EXPECT_EQ(closure("_ZZN6sennit3runEvENKUlvE_clEv"), "");
    EXPECT_EQ(closure("main"), "");
}

TEST(brief_name, tells_the_library_from_the_program) {
    for (const char* const one :
         {"_ZN6sennit5mutex4lockEv", "_ZNK6sennit5fiber2idEv", "_ZZN6sennit3runEvENKUlvE_clEv",
          "_ZNSt8functionIFvvEED1Ev", "_ZSt7forwardIiEvv", "_ZN9__gnu_cxx3newEv", "_start",
          "__libc_start_main", "sennit_unwind_from", "_ZThn8_N6sennit5actor3endEv"})
        EXPECT_TRUE(sennit::sys::is_library_symbol(one)) << one;
    for (const char* const one :
         {"main", "_Z5servei", "_ZL5servei", "_ZN12_GLOBAL__N_15serveEi", "_ZN7sennit23runEv",
          "_ZZ4mainENKUlvE_clEv", "_ZThn8_N4shop5actor3endEv"})
        EXPECT_FALSE(sennit::sys::is_library_symbol(one)) << one;
}

// No input makes the reader leave the text: AddressSanitizer's builds see it.
TEST(brief_name, reads_damaged_symbols) {
    const std::string letters = "_ZNKSILEUlTXJFDtCBAvi0129cl";
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string symbol = "_Z";
        for (std::size_t length = random() % 30; length > 0; --length)
            symbol += letters[random() % letters.size()];
        (void)brief(symbol.c_str());
        (void)closure(symbol.c_str());
        (void)sennit::sys::is_library_symbol(symbol.c_str());
    }
    const std::string whole = "_ZNSt17_Function_handlerIFvvEZN1a4mainEiEUlvE_E9_M_invokeERKSt9_Any";
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        (void)brief(whole.substr(0, length).c_str());
        (void)closure(whole.substr(0, length).c_str());
    }
}

} // namespace
