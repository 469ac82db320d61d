/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file with the firmware. simavr believes whatever an ELF file says, and dies of a damaged one;
 * so its head is looked at first, and then another process tries to read it.
 */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLASH 0x8000u
#define RAM 0x800u
#define LONGEST_FILE (16 * 1024 * 1024)
#define TRIES_FOR 10 /* seconds */

/* A table of the file is where it says. */
static bool within(uint64_t at, uint64_t count, uint64_t each, uint64_t size) {
    return at <= size && count * each <= size - at;
}

/* Each part of the program is in the file. */
static bool parts_fit(FILE *file, const Elf32_Ehdr *head, uint64_t size) {
    if (head->e_phnum == 0 || head->e_phentsize != sizeof(Elf32_Phdr) ||
        !within(head->e_phoff, head->e_phnum, sizeof(Elf32_Phdr), size) ||
        fseek(file, (long)head->e_phoff, SEEK_SET) != 0) {
        return false;
    }
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf32_Phdr part;
        if (fread(&part, sizeof part, 1, file) != 1 ||
            !within(part.p_offset, 1, part.p_filesz, size)) {
            return false;
        }
    }
    return true;
}

static bool looks_right(FILE *file, uint64_t size) {
    Elf32_Ehdr head;
    return fread(&head, sizeof head, 1, file) == 1 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
           head.e_ident[EI_CLASS] == ELFCLASS32 && head.e_ident[EI_DATA] == ELFDATA2LSB &&
           head.e_type == ET_EXEC && head.e_machine == EM_AVR && parts_fit(file, &head, size) &&
           within(head.e_shoff, head.e_shnum, sizeof(Elf32_Shdr), size);
}

static bool is_program(const char *path) {
    struct stat found;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > LONGEST_FILE) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    bool right = looks_right(file, (uint64_t)found.st_size);
    fclose(file);
    return right;
}

static bool read_it(const char *path, elf_firmware_t *firmware) {
    return elf_read_firmware(path, firmware) == 0 && firmware->flashsize > 0 &&
           firmware->flashbase <= FLASH && firmware->flashsize <= FLASH - firmware->flashbase &&
           firmware->datasize + firmware->bsssize <= RAM;
}

/* Another process reads it; what is left of that doesn't matter. */
static bool can_be_read(const char *path, elf_firmware_t *firmware) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        alarm(TRIES_FOR);
        _exit(read_it(path, firmware) ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool program_read(const char *path, elf_firmware_t *firmware) {
    return is_program(path) && can_be_read(path, firmware) && read_it(path, firmware);
}
