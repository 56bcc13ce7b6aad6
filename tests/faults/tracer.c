// Runs a command, stops it at every system call that concerns a file below the current directory, and
// then kills it, lets the call fail, cuts a write short, or only writes down what the call has changed.
//
//   tracer LOG MODE [N [ERRNO]] -- COMMAND...
//
//   record          let everything happen
//   before N        kill the command before its Nth call is made
//   after N         kill it after its Nth call was made
//   torn N          let about half of the Nth call's sectors be written, then kill it
//   fail N ERRNO    the Nth call does nothing and returns ERRNO
//   from N ERRNO    so does every later call that changes something; of ENOSPC, only what takes space
//   short N         the Nth call writes half of its bytes and says so
//
// Calls are seen where the kernel sees them (ptrace, with a seccomp filter that lets all others pass), so
// that it does not matter which library made them. Each call is a line of LOG, its fields separated by
// tabs: number, name, class (`change` or `read`), result, and what it was done to. The last line is how
// the command ended.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "the registers of x86-64 Linux are what this program knows"
#endif

enum { SECTOR = 512, SECONDS_AT_MOST = 60, THREADS_AT_MOST = 64, NONE = -1, OURS_FAILED = 99 };

enum kind {
  OPEN, CREATE, WRITE, WRITE_AT, COPY, TRUNCATE, ALLOCATE, RENAME, UNLINK, MKDIR, LINK, SYMLINK,
  SYNC, SYNC_ALL, ATTRIBUTE, LOCK, READ, MAP, FORBIDDEN
};

// Which arguments are what; NONE for those that a call does not have. `dir` before a path is the
// descriptor that it is relative to.
struct shape {
  long number;
  const char *name;
  enum kind kind;
  int fd, dir, path, dir2, path2, size, offset;
};

static const struct shape SHAPES[] = {
  {SYS_open, "open", OPEN, -1, -1, 0, -1, -1, -1, -1},
  {SYS_openat, "openat", OPEN, -1, 0, 1, -1, -1, -1, -1},
  {SYS_openat2, "openat2", OPEN, -1, 0, 1, -1, -1, -1, -1},
  {SYS_creat, "creat", CREATE, -1, -1, 0, -1, -1, -1, -1},
  {SYS_write, "write", WRITE, 0, -1, -1, -1, -1, 2, -1},
  {SYS_writev, "writev", WRITE, 0, -1, -1, -1, -1, -1, -1},
  {SYS_pwrite64, "pwrite64", WRITE_AT, 0, -1, -1, -1, -1, 2, 3},
  {SYS_pwritev, "pwritev", WRITE_AT, 0, -1, -1, -1, -1, -1, 3},
  {SYS_pwritev2, "pwritev2", WRITE_AT, 0, -1, -1, -1, -1, -1, 3},
  {SYS_copy_file_range, "copy_file_range", COPY, 2, -1, -1, -1, -1, 4, 3},
  {SYS_sendfile, "sendfile", WRITE, 0, -1, -1, -1, -1, 3, -1},
  {SYS_splice, "splice", COPY, 2, -1, -1, -1, -1, 4, 3},
  {SYS_ftruncate, "ftruncate", TRUNCATE, 0, -1, -1, -1, -1, -1, 1},
  {SYS_truncate, "truncate", FORBIDDEN, -1, -1, 0, -1, -1, -1, 1},
  {SYS_fallocate, "fallocate", ALLOCATE, 0, -1, -1, -1, -1, -1, 2},
  {SYS_rename, "rename", RENAME, -1, -1, 0, -1, 1, -1, -1},
  {SYS_renameat, "renameat", RENAME, -1, 0, 1, 2, 3, -1, -1},
  {SYS_renameat2, "renameat2", RENAME, -1, 0, 1, 2, 3, -1, -1},
  {SYS_unlink, "unlink", UNLINK, -1, -1, 0, -1, -1, -1, -1},
  {SYS_unlinkat, "unlinkat", UNLINK, -1, 0, 1, -1, -1, -1, -1},
  {SYS_rmdir, "rmdir", UNLINK, -1, -1, 0, -1, -1, -1, -1},
  {SYS_mkdir, "mkdir", MKDIR, -1, -1, 0, -1, -1, -1, -1},
  {SYS_mkdirat, "mkdirat", MKDIR, -1, 0, 1, -1, -1, -1, -1},
  {SYS_link, "link", LINK, -1, -1, 0, -1, 1, -1, -1},
  {SYS_linkat, "linkat", LINK, -1, 0, 1, 2, 3, -1, -1},
  {SYS_symlink, "symlink", SYMLINK, -1, -1, 1, -1, -1, -1, -1},
  {SYS_symlinkat, "symlinkat", SYMLINK, -1, 1, 2, -1, -1, -1, -1},
  {SYS_fsync, "fsync", SYNC, 0, -1, -1, -1, -1, -1, -1},
  {SYS_fdatasync, "fdatasync", SYNC, 0, -1, -1, -1, -1, -1, -1},
  {SYS_syncfs, "syncfs", SYNC_ALL, 0, -1, -1, -1, -1, -1, -1},
  {SYS_chmod, "chmod", ATTRIBUTE, -1, -1, 0, -1, -1, -1, -1},
  {SYS_fchmod, "fchmod", ATTRIBUTE, 0, -1, -1, -1, -1, -1, -1},
  {SYS_fchmodat, "fchmodat", ATTRIBUTE, -1, 0, 1, -1, -1, -1, -1},
  {SYS_fchown, "fchown", ATTRIBUTE, 0, -1, -1, -1, -1, -1, -1},
  {SYS_fchownat, "fchownat", ATTRIBUTE, -1, 0, 1, -1, -1, -1, -1},
  {SYS_utimensat, "utimensat", ATTRIBUTE, -1, 0, 1, -1, -1, -1, -1},
  {SYS_flock, "flock", LOCK, 0, -1, -1, -1, -1, -1, -1},
  {SYS_fcntl, "fcntl", LOCK, 0, -1, -1, -1, -1, -1, -1},
  {SYS_read, "read", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_readv, "readv", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_pread64, "pread64", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_preadv, "preadv", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_getdents64, "getdents64", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_lseek, "lseek", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_fstat, "fstat", READ, 0, -1, -1, -1, -1, -1, -1},
  {SYS_stat, "stat", READ, -1, -1, 0, -1, -1, -1, -1},
  {SYS_lstat, "lstat", READ, -1, -1, 0, -1, -1, -1, -1},
  {SYS_newfstatat, "newfstatat", READ, -1, 0, 1, -1, -1, -1, -1},
  {SYS_statx, "statx", READ, -1, 0, 1, -1, -1, -1, -1},
  {SYS_access, "access", READ, -1, -1, 0, -1, -1, -1, -1},
  {SYS_faccessat, "faccessat", READ, -1, 0, 1, -1, -1, -1, -1},
  {SYS_faccessat2, "faccessat2", READ, -1, 0, 1, -1, -1, -1, -1},
  {SYS_readlink, "readlink", READ, -1, -1, 0, -1, -1, -1, -1},
  {SYS_readlinkat, "readlinkat", READ, -1, 0, 1, -1, -1, -1, -1},
  {SYS_mmap, "mmap", MAP, 4, -1, -1, -1, -1, -1, -1},
  {SYS_io_uring_setup, "io_uring_setup", FORBIDDEN, -1, -1, -1, -1, -1, -1, -1},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0] };

// A name in a directory, as it was when the call was made.
struct place {
  char path[PATH_MAX];
  char name[NAME_MAX + 1];
  unsigned long directory;
};

// A call under way in one thread.
struct call {
  pid_t thread;
  const struct shape *shape;
  unsigned long args[6];
  long position, length;  // of the file, before the call; of what is asked for
  int existed, is_ended_after, shortened;
  struct place from, to;
};

static struct {
  enum { RECORD, BEFORE, AFTER, TORN, FAIL, FROM, SHORT } mode;
  long number;
  int error;
} order;

static char root[PATH_MAX];
static FILE *report;
static long calls;
static pid_t command;
static struct call under_way[THREADS_AT_MOST];

static void die(const char *what) {
  fprintf(stderr, "tracer: %s: %s\n", what, strerror(errno));
  if (command > 0) kill(command, SIGKILL);
  exit(OURS_FAILED);
}

static void end_late(int signal) {
  (void)signal;
  if (command > 0) kill(command, SIGKILL);
}

static const struct shape *shape_of(long number) {
  for (int i = 0; i < SHAPE_COUNT; i++)
    if (SHAPES[i].number == number) return &SHAPES[i];
  return NULL;
}

static int is_inside(const char *path) {
  size_t length = strlen(root);
  return strncmp(path, root, length) == 0 && (path[length] == 0 || path[length] == '/');
}

static void link_of_fd(pid_t thread, int fd, char *path) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/fd/%d", thread, fd);
  ssize_t length = readlink(name, path, PATH_MAX - 1);
  path[length > 0 ? length : 0] = 0;
}

static void string_at(pid_t thread, unsigned long address, char *text) {
  size_t done = 0;
  while (done < PATH_MAX - 1) {
    // Up to the end of a page: the next one need not be there.
    size_t piece = 4096 - (address + done) % 4096;
    if (piece > PATH_MAX - 1 - done) piece = PATH_MAX - 1 - done;
    struct iovec here = {text + done, piece}, there = {(void *)(address + done), piece};
    ssize_t length = process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (length <= 0) break;
    if (memchr(text + done, 0, length)) return;
    done += length;
  }
  text[done] = 0;
}

static unsigned long inode_of(const char *path, int follows) {
  struct stat found;
  int failed = follows ? stat(path, &found) : lstat(path, &found);
  return failed ? 0 : found.st_ino;
}

// Finds out which name a path argument is.
static void find_place(const struct call *call, int dir, int path, struct place *place) {
  char given[PATH_MAX], start[PATH_MAX], whole[2 * PATH_MAX + 2];
  string_at(call->thread, call->args[path], given);
  int fd = dir == NONE ? AT_FDCWD : (int)call->args[dir];
  if (given[0] == '/') {
    start[0] = 0;
  } else if (fd == AT_FDCWD) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/cwd", call->thread);
    ssize_t length = readlink(name, start, sizeof start - 1);
    start[length > 0 ? length : 0] = 0;
  } else {
    link_of_fd(call->thread, fd, start);
  }
  snprintf(whole, sizeof whole, "%s%s%s", start, given[0] == '/' || given[0] == 0 ? "" : "/", given);
  size_t length = strlen(whole);
  while (length > 1 && whole[length - 1] == '/') whole[--length] = 0;
  char *slash = strrchr(whole, '/'), parent[2 * PATH_MAX + 2];
  snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - whole) : 0, whole);
  snprintf(place->name, sizeof place->name, "%s", slash ? slash + 1 : whole);
  snprintf(place->path, sizeof place->path, "%s", whole);
  // The root's own parent is no concern of ours.
  place->directory = inode_of(parent[0] ? parent : "/", 1);
}

static long position_of(pid_t thread, int fd) {
  char name[64], line[256];
  long position = 0, flags = 0;
  snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", thread, fd);
  FILE *info = fopen(name, "r");
  if (!info) die(name);
  while (fgets(line, sizeof line, info)) {
    sscanf(line, "pos: %ld", &position);
    sscanf(line, "flags: %lo", &flags);
  }
  fclose(info);
  if (flags & O_APPEND) {
    struct stat found;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", thread, fd);
    if (stat(name, &found) == 0) position = found.st_size;
  }
  return position;
}

static unsigned long inode_of_fd(pid_t thread, int fd) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/fd/%d", thread, fd);
  return inode_of(name, 1);
}

static long size_of_fd(pid_t thread, int fd) {
  char name[64];
  struct stat found;
  snprintf(name, sizeof name, "/proc/%d/fd/%d", thread, fd);
  return stat(name, &found) == 0 ? found.st_size : 0;
}

static unsigned long open_flags(const struct call *call) {
  switch (call->shape->number) {
    case SYS_open: return call->args[1];
    case SYS_openat2: {
      unsigned long flags = 0;
      struct iovec here = {&flags, sizeof flags}, there = {(void *)call->args[2], sizeof flags};
      if (process_vm_readv(call->thread, &here, 1, &there, 1, 0) < 0) die("openat2");
      return flags;
    }
    default: return call->args[2];
  }
}

static int creates(const struct call *call) {
  if (call->shape->kind == CREATE) return 1;
  return call->shape->kind == OPEN && (open_flags(call) & (O_CREAT | O_TRUNC)) != 0;
}

static int is_change(const struct call *call) {
  switch (call->shape->kind) {
    case OPEN: return creates(call);
    case READ:
    case LOCK: return 0;
    default: return 1;
  }
}

// Whether a full disk is a reason for it to fail.
static int takes_space(const struct call *call) {
  switch (call->shape->kind) {
    case UNLINK:
    case SYNC:
    case SYNC_ALL:
    case ATTRIBUTE: return 0;
    case TRUNCATE: return (long)call->args[1] > call->position;
    default: return is_change(call);
  }
}

// Whether the call concerns a file of ours; notes what it was done to.
static int examine(struct call *call) {
  const struct shape *shape = call->shape;
  int concerns = 0;
  if (shape->kind == MAP) {
    int is_shared = (call->args[3] & MAP_TYPE) != MAP_PRIVATE && (call->args[2] & PROT_WRITE);
    if (!is_shared || (call->args[3] & MAP_ANONYMOUS)) return 0;
  }
  if (shape->number == SYS_fcntl && call->args[1] != F_SETLK && call->args[1] != F_SETLKW &&
      call->args[1] != F_OFD_SETLK && call->args[1] != F_OFD_SETLKW)
    return 0;
  if (shape->number == SYS_io_uring_setup) return 1;
  if (shape->fd != NONE) {
    link_of_fd(call->thread, (int)call->args[shape->fd], call->from.path);
    concerns = is_inside(call->from.path);
    if (concerns && (shape->kind == WRITE || shape->kind == COPY))
      call->position = position_of(call->thread, (int)call->args[shape->fd]);
    if (concerns && shape->kind == WRITE_AT) call->position = (long)call->args[shape->offset];
    if (concerns && shape->kind == COPY && call->args[shape->offset]) die("a copy to an offset");
    if (concerns && shape->kind == TRUNCATE)
      call->position = size_of_fd(call->thread, (int)call->args[shape->fd]);
  }
  if (shape->path != NONE) {
    find_place(call, shape->dir, shape->path, &call->from);
    concerns = is_inside(call->from.path);
    call->existed = inode_of(call->from.path, shape->kind == OPEN || shape->kind == CREATE) != 0;
  }
  if (shape->path2 != NONE) {
    find_place(call, shape->dir2, shape->path2, &call->to);
    concerns |= is_inside(call->to.path);
  }
  if (shape->size != NONE) call->length = (long)call->args[shape->size];
  return concerns;
}

static void print_bytes(const struct call *call, long count) {
  char name[64], buffer[65536];
  snprintf(name, sizeof name, "/proc/%d/fd/%d", call->thread, (int)call->args[call->shape->fd]);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die(name);
  for (long done = 0; done < count;) {
    long wanted = count - done < (long)sizeof buffer ? count - done : (long)sizeof buffer;
    ssize_t length = pread(fd, buffer, wanted, call->position + done);
    if (length <= 0) die("reading what was written");
    for (ssize_t i = 0; i < length; i++) fprintf(report, "%02x", (unsigned char)buffer[i]);
    done += length;
  }
  close(fd);
}

// The line of a call that has ended.
static void print_call(const struct call *call, long number, long result) {
  const struct shape *shape = call->shape;
  fprintf(report, "%ld\t%s\t%s\t%ld", number, shape->name, is_change(call) ? "change" : "read", result);
  int fd = shape->fd == NONE ? -1 : (int)call->args[shape->fd];
  const struct place *from = &call->from, *to = &call->to;
  fprintf(report, "\t%s", from->path[0] ? from->path : "-");
  if (result < 0 || !is_change(call)) {
    fputc('\n', report);
    return;
  }
  switch (shape->kind) {
    case OPEN:
    case CREATE:
      if (shape->kind == OPEN && (open_flags(call) & (O_TMPFILE & ~O_DIRECTORY))) die("a file without a name");
      fprintf(report, "\topen\t%lu\t%s\t%lu\t%d\t%d", from->directory, from->name,
              inode_of_fd(call->thread, (int)result), !call->existed,
              shape->kind == CREATE || (open_flags(call) & O_TRUNC) != 0);
      break;
    case WRITE:
    case WRITE_AT:
    case COPY:
      fprintf(report, "\twrite\t%lu\t%ld\t", inode_of_fd(call->thread, fd), call->position);
      print_bytes(call, result);
      break;
    case TRUNCATE: fprintf(report, "\ttruncate\t%lu\t%ld", inode_of_fd(call->thread, fd), (long)call->args[1]); break;
    case ALLOCATE:
      fprintf(report, "\tallocate\t%lu\t%ld\t%ld\t%ld", inode_of_fd(call->thread, fd), (long)call->args[1],
              (long)call->args[2], (long)call->args[3]);
      break;
    case RENAME:
      fprintf(report, "\trename\t%lu\t%s\t%lu\t%s\t%d", from->directory, from->name, to->directory, to->name,
              shape->number == SYS_renameat2 && (call->args[4] & RENAME_EXCHANGE) != 0);
      break;
    case UNLINK: fprintf(report, "\tunlink\t%lu\t%s", from->directory, from->name); break;
    case MKDIR: fprintf(report, "\tmkdir\t%lu\t%s\t%lu", from->directory, from->name, inode_of(from->path, 0)); break;
    case LINK: fprintf(report, "\tlink\t%lu\t%s\t%lu", to->directory, to->name, inode_of(to->path, 0)); break;
    case SYMLINK: fprintf(report, "\tsymlink\t%lu\t%s", from->directory, from->name); break;
    case SYNC: fprintf(report, "\tsync\t%lu", inode_of_fd(call->thread, fd)); break;
    case SYNC_ALL: fprintf(report, "\tsync_all"); break;
    case ATTRIBUTE: fprintf(report, "\tattribute"); break;
    default: fprintf(report, "\tforbidden"); break;
  }
  fputc('\n', report);
}

static struct call *slot_of(pid_t thread, int makes) {
  for (int i = 0; i < THREADS_AT_MOST; i++)
    if (under_way[i].thread == thread) return &under_way[i];
  if (!makes) return NULL;
  for (int i = 0; i < THREADS_AT_MOST; i++)
    if (under_way[i].thread == 0) return memset(&under_way[i], 0, sizeof under_way[i]), &under_way[i];
  errno = EAGAIN;
  die("threads");
  return NULL;
}

static void set_registers(pid_t thread, struct user_regs_struct *registers) {
  if (ptrace(PTRACE_SETREGS, thread, 0, registers)) die("setting registers");
}

static unsigned long long *argument(struct user_regs_struct *registers, int index) {
  unsigned long long *all[] = {&registers->rdi, &registers->rsi, &registers->rdx,
                               &registers->r10, &registers->r8, &registers->r9};
  return all[index];
}

// How much of a write is made if it is cut short; 0 if it cannot be. A kill takes effect between sectors only: the
// kernel copies more than that at once.
static long cut_length(const struct call *call) {
  enum kind kind = call->shape->kind;
  if ((kind != WRITE && kind != WRITE_AT && kind != COPY) || call->shape->size == NONE) return 0;
  if (order.mode == SHORT) return call->length / 2;
  long start = call->position, end = (start + call->length / 2 + SECTOR - 1) / SECTOR * SECTOR;
  if (end >= start + call->length) end -= SECTOR;
  return end > start ? end - start : 0;
}

static int must_fail(const struct call *call, long number) {
  if (order.mode == FAIL) return number == order.number;
  if (order.mode != FROM || number < order.number || !is_change(call)) return 0;
  return order.error != ENOSPC || takes_space(call);
}

// Before a call: how the thread goes on.
static int enter(pid_t thread) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, thread, 0, &registers)) return PTRACE_CONT;
  const struct shape *shape = shape_of((long)registers.orig_rax);
  if (!shape) return PTRACE_CONT;
  struct call *call = slot_of(thread, 1);
  *call = (struct call){.thread = thread, .shape = shape};
  for (int i = 0; i < 6; i++) call->args[i] = *argument(&registers, i);
  if (!examine(call)) {
    call->thread = 0;
    return PTRACE_CONT;
  }
  long number = ++calls;
  int is_meant = number == order.number;
  if (order.mode == BEFORE && is_meant) {
    print_call(call, number, -EINTR);
    kill(command, SIGKILL);
    return PTRACE_CONT;
  }
  if (must_fail(call, number)) {
    registers.orig_rax = (unsigned long long)-1;
    registers.rax = (unsigned long long)(long)-order.error;
    set_registers(thread, &registers);
    print_call(call, number, -order.error);
    call->thread = 0;
    return PTRACE_CONT;
  }
  if ((order.mode == TORN || order.mode == SHORT) && is_meant) {
    long length = cut_length(call);
    if (length > 0) {
      *argument(&registers, shape->size) = (unsigned long long)length;
      set_registers(thread, &registers);
      call->shortened = 1;
    }
    call->is_ended_after = order.mode == TORN;
  }
  if (order.mode == AFTER && is_meant) call->is_ended_after = 1;
  return PTRACE_SYSCALL;
}

// After a call.
static void leave(pid_t thread) {
  struct call *call = slot_of(thread, 0);
  struct user_regs_struct registers;
  if (!call || ptrace(PTRACE_GETREGS, thread, 0, &registers)) return;
  if (call->shortened) {
    *argument(&registers, call->shape->size) = (unsigned long long)call->length;
    set_registers(thread, &registers);
  }
  print_call(call, calls, (long)registers.rax);
  if (call->is_ended_after) kill(command, SIGKILL);
  call->thread = 0;
}

// Everything but the calls of the table passes without a stop.
static void install_filter(void) {
  struct sock_filter code[SHAPE_COUNT + 3];
  int length = 0;
  code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < SHAPE_COUNT; i++)
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)SHAPES[i].number,
                                                  (unsigned char)(SHAPE_COUNT - i), 0);
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {(unsigned short)length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) die("no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) die("seccomp");
}

static void start(char **arguments) {
  command = fork();
  if (command < 0) die("fork");
  if (command == 0) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0)) die("ptrace");
    raise(SIGSTOP);
    install_filter();
    execvp(arguments[0], arguments);
    die(arguments[0]);
  }
  int status;
  if (waitpid(command, &status, 0) < 0 || !WIFSTOPPED(status)) die("the command has not started");
  long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                 PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, command, 0, options)) die("ptrace options");
  if (ptrace(PTRACE_CONT, command, 0, 0)) die("ptrace");
}

// Follows the command to its end, and writes down what that was.
static void follow(void) {
  int status;
  for (;;) {
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0 && errno == EINTR) continue;
    if (thread < 0) die("the command is gone");
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      struct call *call = slot_of(thread, 0);
      if (call) call->thread = 0;
      if (thread != command) continue;
      if (WIFEXITED(status)) fprintf(report, "exit\t%d\t%ld\n", WEXITSTATUS(status), calls);
      else fprintf(report, "signal\t%d\t%ld\n", WTERMSIG(status), calls);
      return;
    }
    int next = PTRACE_CONT, signal = 0;
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) next = enter(thread);
    else if (WSTOPSIG(status) == (SIGTRAP | 0x80)) leave(thread);
    else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP) signal = WSTOPSIG(status);
    // It may have been killed meanwhile.
    if (ptrace(next, thread, 0, signal) && errno != ESRCH) die("continuing");
  }
}

int main(int count, char **arguments) {
  static const char *const NAMES[] = {"record", "before", "after", "torn", "fail", "from", "short"};
  int first = 3;
  while (first < count && strcmp(arguments[first], "--")) first++;
  if (count < 4 || first + 1 >= count) {
    fprintf(stderr, "usage: tracer LOG MODE [N [ERRNO]] -- COMMAND...\n");
    return OURS_FAILED;
  }
  int mode = 0;
  while (mode < 7 && strcmp(NAMES[mode], arguments[2])) mode++;
  if (mode == 7) errno = EINVAL, die(arguments[2]);
  order.mode = mode;
  if (first > 3) order.number = atol(arguments[3]);
  if (first > 4) order.error = atoi(arguments[4]);
  if (!getcwd(root, sizeof root)) die("the current directory");
  report = fopen(arguments[1], "we");
  if (!report) die(arguments[1]);
  signal(SIGALRM, end_late);
  alarm(SECONDS_AT_MOST);
  start(arguments + first + 1);
  follow();
  if (fclose(report)) die(arguments[1]);
  return 0;
}
