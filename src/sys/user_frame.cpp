// SPDX-License-Identifier: Apache-2.0
#include "sys/user_frame.hpp"

#include "sys/brief_name.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace sennit::sys {

namespace {

constexpr std::size_t max_frames = 64;

struct call_stack {
    std::uintptr_t frames[max_frames];
    std::size_t count = 0;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* at, void* argument) {
    auto& mine = *static_cast<call_stack*>(argument);
    int is_exact = 0;
    std::uintptr_t pc = _Unwind_GetIPInfo(at, &is_exact);
    if (pc == 0 || mine.count == max_frames) return _URC_END_OF_STACK;
    // A return address may lie behind the end of its function.
    if (is_exact == 0) --pc;
    mine.frames[mine.count++] = pc;
    return _URC_NO_REASON;
}

// The program or the shared library that contains an address.
struct loaded_object {
    std::uintptr_t address;       // to look for
    const char* name = nullptr;   // empty for the program; null: no module contains the address
    std::uintptr_t load_bias = 0; // add it to an address in the file
};

int note_module(dl_phdr_info* info, std::size_t, void* argument) {
    auto& wanted = *static_cast<loaded_object*>(argument);
    for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD ||
            wanted.address - info->dlpi_addr - segment.p_vaddr >= segment.p_memsz)
            continue;
        wanted.name = info->dlpi_name;
        wanted.load_bias = info->dlpi_addr;
        return 1;
    }
    return 0;
}

// The symbol table of a module's file, mapped for reading.
class symbol_file {
public:
    explicit symbol_file(const char* path) noexcept {
        const int file = ::open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat about{};
        if (::fstat(file, &about) == 0 && about.st_size > 0) {
            size_ = static_cast<std::size_t>(about.st_size);
            void* const memory = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
            if (memory != MAP_FAILED) bytes_ = static_cast<const char*>(memory);
        }
        ::close(file);
        if (bytes_) find_tables();
    }
    ~symbol_file() {
        // SAFETY: nothing keeps a pointer into the mapping.
        if (bytes_) ::munmap(const_cast<char*>(bytes_), size_);
    }
    symbol_file(const symbol_file&) = delete;

    // The symbol of the function that contains the address; null: none is known.
    const char* function_at(std::uintptr_t address) const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            const ElfW(Sym)& one = symbols_[i];
            if ((one.st_info & 0xf) == STT_FUNC && one.st_shndx != SHN_UNDEF &&
                address - one.st_value < one.st_size && one.st_name < names_size_)
                return names_ + one.st_name;
        }
        return nullptr;
    }

private:
    template <class T>
    const T* table(std::uint64_t offset, std::uint64_t bytes) const noexcept {
        if (offset > size_ || bytes > size_ - offset || offset % alignof(T) != 0) return nullptr;
        // SAFETY: inside the mapping, aligned, and T consists of integers.
        return reinterpret_cast<const T*>(bytes_ + offset);
    }

    void find_tables() noexcept {
        const auto* const header = table<ElfW(Ehdr)>(0, sizeof(ElfW(Ehdr)));
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
        const std::size_t sections = header->e_shnum;
        const auto* const first = table<ElfW(Shdr)>(header->e_shoff, sections * sizeof(ElfW(Shdr)));
        if (!first) return;
        for (const ElfW(Word) kind : std::initializer_list<ElfW(Word)>{SHT_SYMTAB, SHT_DYNSYM})
            for (std::size_t i = 0; i < sections; ++i)
                if (first[i].sh_type == kind && first[i].sh_link < sections &&
                    use(first[i], first[first[i].sh_link]))
                    return;
    }

    bool use(const ElfW(Shdr) & symbols, const ElfW(Shdr) & names) noexcept {
        symbols_ = table<ElfW(Sym)>(symbols.sh_offset, symbols.sh_size);
        names_ = table<char>(names.sh_offset, names.sh_size);
        // The last name must be terminated.
        if (!symbols_ || !names_ || names.sh_size == 0 || names_[names.sh_size - 1] != '\0')
            return false;
        count_ = symbols.sh_size / sizeof(ElfW(Sym));
        names_size_ = names.sh_size;
        return count_ != 0;
    }

    const char* bytes_ = nullptr;
    std::size_t size_ = 0;
    const ElfW(Sym) * symbols_ = nullptr;
    std::size_t count_ = 0;
    const char* names_ = nullptr;
    std::size_t names_size_ = 0;
};

const char* path_of(const loaded_object& one) noexcept {
    return *one.name == '\0' ? "/proc/self/exe" : one.name;
}

// The program's name without its folder, or nothing.
void write_module_name(bounded_text& to, const loaded_object& one) noexcept {
    char program[512];
    const char* path = one.name;
    if (*path == '\0') {
        const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = '\0';
        path = program;
    }
    const char* const slash = std::strrchr(path, '/');
    to << (slash ? slash + 1 : path);
}

// The system's libraries have functions without a namespace.
bool is_system_library(const char* path) noexcept {
    const char* const slash = std::strrchr(path, '/');
    const char* const name = slash ? slash + 1 : path;
    for (const char* const one : {"libc.so", "libpthread.so", "libstdc++.so", "libgcc_s.so", "ld-"})
        if (std::strncmp(name, one, std::strlen(one)) == 0) return true;
    return false;
}

// Writes the frame if its function is the user's.
bool write_if_users(bounded_text& to, std::uintptr_t address) noexcept {
    loaded_object in{address};
    ::dl_iterate_phdr(&note_module, &in);
    if (!in.name || is_system_library(in.name)) return false;
    const symbol_file symbols(path_of(in));
    const char* const symbol = symbols.function_at(address - in.load_bias);
    if (!symbol) return false;
    if (!is_library_symbol(symbol)) {
        write_brief_name(to, symbol);
    } else if (const char* const closure = closure_in(symbol)) {
        write_brief_closure(to, closure);
    } else {
        return false;
    }
    to << " (";
    write_module_name(to, in);
    to << "+" << hex_number{address - in.load_bias} << ")";
    return true;
}

} // namespace

bool write_user_frame(bounded_text& to) noexcept {
    call_stack stack;
    (void)_Unwind_Backtrace(&note_frame, &stack);
    for (std::size_t i = 0; i < stack.count; ++i)
        if (write_if_users(to, stack.frames[i])) return true;
    return false;
}

} // namespace sennit::sys
