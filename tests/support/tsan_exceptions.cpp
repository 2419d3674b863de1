// SPDX-License-Identifier: Apache-2.0
// Annotations for exceptions that several threads share, for example by a shared_future. The last
// thread destroys the exception. An atomic count inside libstdc++ orders the other threads before
// it, but ThreadSanitizer does not see that count: to ThreadSanitizer, one thread frees memory that
// another thread has just read. The functions here replace libstdc++'s and annotate the order.
#ifdef __has_feature
#if __has_feature(thread_sanitizer)

#include <dlfcn.h>

#include <cstring>
#include <exception>

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

template <class F>
F* next_definition(const char* name) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

void* object_of(const std::exception_ptr& shared) {
    void* object = nullptr; // the only member of an exception_ptr
    static_assert(sizeof object == sizeof shared);
    std::memcpy(&object, static_cast<const void*>(&shared), sizeof object);
    return object;
}

// Removes one user. The last user comes after the end of each other user.
void let_go(void* object) {
    __tsan_release(object);
    __tsan_acquire(object);
}

} // namespace

void std::__exception_ptr::exception_ptr::_M_release() noexcept {
    static auto* const release = next_definition<void(exception_ptr*)>(
        "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
    let_go(object_of(*this));
    release(this);
}

extern "C" void __cxa_end_catch() {
    static auto* const end = next_definition<void()>("__cxa_end_catch");
    if (void* const object = object_of(std::current_exception())) let_go(object);
    end();
}

extern "C" void __cxa_free_exception(void* object) noexcept {
    static auto* const free = next_definition<void(void*)>("__cxa_free_exception");
    __tsan_acquire(object);
    free(object);
}

#endif
#endif
