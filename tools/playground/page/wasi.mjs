// A host of WASI (preview 1) with files in memory: enough for clang, wasm-ld, and the programs that they make. Runs in node
// and in a browser's worker.
const OK = 0, EBADF = 8, EEXIST = 20, EINVAL = 28, EISDIR = 31, ENOENT = 44, ENOSYS = 52, ENOTDIR = 54, ESPIPE = 70;
const DEVICE = 2, DIRECTORY = 3, REGULAR = 4;
const CREATE = 1, IS_DIRECTORY = 2, EXCLUSIVE = 4, TRUNCATE = 8;

let inode = 1n;
const decoder = new TextDecoder();  // of whole texts
const environment = ["TMPDIR=."].map(text => new TextEncoder().encode(`${text}\0`));  // temporary files are among the others

/** A file: bytes that grow. */
export class File {
  constructor(data = new Uint8Array(0)) {
    this.data = data;
    this.size = data.length;
    this.inode = inode++;
  }
  bytes() { return this.data.subarray(0, this.size); }
  reserve(size) {
    if (size <= this.data.length) { return; }
    const larger = new Uint8Array(Math.max(size, this.data.length * 2, 4096));
    larger.set(this.bytes());
    this.data = larger;
  }
  resize(size) {
    this.reserve(size);
    if (size > this.size) { this.data.fill(0, this.size, size); }
    this.size = size;
  }
}

/** A folder: a map from names to files and folders. */
export class Folder extends Map {
  constructor(entries) {
    super(entries);
    this.inode = inode++;
  }
}

const parts = path => path.split("/").filter(Boolean);

/** Puts a file, or the bytes or text of one, at a path; folders are made. */
export function put(root, path, data) {
  const names = parts(path);
  let folder = root;
  for (const name of names.slice(0, -1)) {
    if (!folder.has(name)) { folder.set(name, new Folder()); }
    folder = folder.get(name);
  }
  folder.set(names.at(-1), data instanceof File ? data : new File(typeof data === "string" ? new TextEncoder().encode(data) : data));
}

/** The file or folder at a path, undefined if there is none. */
export function get(root, path) {
  return parts(path).reduce((folder, name) => (folder instanceof Folder ? folder.get(name) : undefined), root);
}

/** A copy of the folders of a tree, which shares the files: new files do not get into the original. */
export function overlay(root) {
  return new Folder([...root].map(([name, node]) => [name, node instanceof Folder ? overlay(node) : node]));
}

/** The files of a tar archive. */
export function untar(bytes) {
  const root = new Folder();
  const text = (at, length) => decoder.decode(bytes.subarray(at, at + length)).replace(/\0.*$/s, "");
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    const size = parseInt(text(at + 124, 12), 8) || 0, kind = text(at + 156, 1);
    const prefix = text(at + 257, 5) === "ustar" ? text(at + 345, 155) : "";
    if (kind === "0" || kind === "") { put(root, `${prefix}/${text(at, 100)}`, bytes.subarray(at + 512, at + 512 + size)); }
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return root;
}

class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** One run of a program: `args`, its files in `root`, the bytes of its input; `stdout` and `stderr` are called with bytes. */
export class Wasi {
  constructor({args, root, stdin = new Uint8Array(0), stdout = () => {}, stderr = () => {}}) {
    this.args = args.map(text => new TextEncoder().encode(`${text}\0`));
    this.open = [{node: new File(stdin), at: 0}, {write: stdout}, {write: stderr}, {node: root}];
    this.imports = {wasi_snapshot_preview1: {}};
    for (const name of Object.getOwnPropertyNames(Wasi.prototype).filter(one => /^[a-z]+_/.test(one))) {
      this.imports.wasi_snapshot_preview1[name] = (...values) => this[name](...values);
    }
  }

  /** Runs an instance of a module with `imports`. -> its exit code */
  start(instance) {
    this.memory = instance.exports.memory;
    try {
      instance.exports._start();
      return 0;
    } catch (thrown) {
      if (thrown instanceof Exit) { return thrown.code; }
      throw thrown;
    }
  }

  // Memory that grows has another buffer.
  get view() { return this.lastView?.buffer === this.memory.buffer ? this.lastView : (this.lastView = new DataView(this.memory.buffer)); }
  get bytes() { return this.lastBytes?.buffer === this.memory.buffer ? this.lastBytes : (this.lastBytes = new Uint8Array(this.memory.buffer)); }
  number(at, value) { this.view.setUint32(at, value, true); return OK; }
  large(at, value) { this.view.setBigUint64(at, BigInt(value), true); return OK; }

  // --- arguments, clocks, processes
  args_sizes_get(count, size) { return this.sizes(this.args, count, size); }
  args_get(pointers, at) { return this.texts(this.args, pointers, at); }
  environ_sizes_get(count, size) { return this.sizes(environment, count, size); }
  environ_get(pointers, at) { return this.texts(environment, pointers, at); }
  sizes(texts, count, size) {
    this.number(count, texts.length);
    return this.number(size, texts.reduce((sum, one) => sum + one.length, 0));
  }
  texts(texts, pointers, at) {
    for (const one of texts) {
      this.number(pointers, at);
      this.bytes.set(one, at);
      pointers += 4;
      at += one.length;
    }
    return OK;
  }
  clock_time_get(clock, precision, at) { return this.large(at, Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6)); }
  clock_res_get(clock, at) { return this.large(at, 1000); }
  random_get(at, size) {
    for (let done = 0; done < size; done += 65536) { crypto.getRandomValues(this.bytes.subarray(at + done, at + Math.min(size, done + 65536))); }
    return OK;
  }
  proc_exit(code) { throw new Exit(code); }
  sched_yield() { return OK; }
  poll_oneoff(subscriptions, events, count, done) { return this.number(done, 0); }

  // --- open files
  fd_close(fd) {
    if (!this.open[fd]) { return EBADF; }
    this.open[fd] = undefined;
    return OK;
  }
  kind(file) { return file.write ? DEVICE : file.node instanceof Folder ? DIRECTORY : REGULAR; }
  fd_fdstat_get(fd, at) {
    const file = this.open[fd];
    if (!file) { return EBADF; }
    this.view.setUint8(at, this.kind(file));
    this.view.setUint16(at + 2, file.appends ? 1 : 0, true);
    this.large(at + 8, 0x1fffffffn);
    return this.large(at + 16, 0x1fffffffn);
  }
  fd_fdstat_set_flags(fd, flags) {
    if (!this.open[fd]) { return EBADF; }
    this.open[fd].appends = flags & 1;
    return OK;
  }
  facts(file, at) {
    for (let i = 0; i < 64; i += 8) { this.large(at + i, 0); }
    this.large(at, 1);
    this.large(at + 8, file.node?.inode ?? 0);
    this.view.setUint8(at + 16, this.kind(file));
    this.large(at + 24, 1);
    return this.large(at + 32, file.node?.size && !(file.node instanceof Folder) ? file.node.size : 0);
  }
  fd_filestat_get(fd, at) { return this.open[fd] ? this.facts(this.open[fd], at) : EBADF; }
  fd_filestat_set_size(fd, size) {
    if (!(this.open[fd]?.node instanceof File)) { return EBADF; }
    this.open[fd].node.resize(Number(size));
    return OK;
  }
  fd_filestat_set_times() { return OK; }
  fd_prestat_get(fd, at) {
    if (fd !== 3) { return EBADF; }
    this.view.setUint8(at, 0);
    return this.number(at + 4, 1);
  }
  fd_prestat_dir_name(fd, at) {
    if (fd !== 3) { return EBADF; }
    this.bytes[at] = 47;  // "/"
    return OK;
  }
  fd_sync() { return OK; }
  fd_datasync() { return OK; }
  fd_advise() { return OK; }
  fd_allocate() { return OK; }
  *vectors(at, count) {
    for (let i = 0; i < count; ++i) { yield [this.view.getUint32(at + 8 * i, true), this.view.getUint32(at + 8 * i + 4, true)]; }
  }
  read(node, from, vectors, count, out) {
    let done = 0;
    for (const [at, size] of this.vectors(vectors, count)) {
      const part = node.bytes().subarray(from + done, from + done + size);
      this.bytes.set(part, at);
      done += part.length;
      if (part.length < size) { break; }
    }
    this.number(out, done);
    return done;
  }
  fd_read(fd, vectors, count, out) {
    const file = this.open[fd];
    if (!file?.node) { return EBADF; }
    if (file.node instanceof Folder) { return EISDIR; }
    file.at += this.read(file.node, file.at, vectors, count, out);
    return OK;
  }
  fd_pread(fd, vectors, count, from, out) {
    if (!(this.open[fd]?.node instanceof File)) { return EBADF; }
    this.read(this.open[fd].node, Number(from), vectors, count, out);
    return OK;
  }
  write(file, to, vectors, count, out) {
    let done = 0;
    for (const [at, size] of this.vectors(vectors, count)) {
      const part = this.bytes.subarray(at, at + size);
      if (file.write) {
        file.write(part.slice());
      } else {
        if (to + done + size > file.node.size) { file.node.resize(to + done + size); }
        file.node.data.set(part, to + done);
      }
      done += size;
    }
    this.number(out, done);
    return done;
  }
  fd_write(fd, vectors, count, out) {
    const file = this.open[fd];
    if (!file || file.node instanceof Folder) { return EBADF; }
    if (file.appends) { file.at = file.node.size; }
    file.at += this.write(file, file.at, vectors, count, out);
    return OK;
  }
  fd_pwrite(fd, vectors, count, to, out) {
    if (!(this.open[fd]?.node instanceof File)) { return EBADF; }
    this.write(this.open[fd], Number(to), vectors, count, out);
    return OK;
  }
  fd_seek(fd, offset, whence, out) {
    const file = this.open[fd];
    if (!file) { return EBADF; }
    if (file.write) { return ESPIPE; }
    file.at = Number(offset) + [0, file.at, file.node.size][whence];
    return this.large(out, file.at);
  }
  fd_tell(fd, out) { return this.open[fd]?.node ? this.large(out, this.open[fd].at) : EBADF; }
  fd_readdir(fd, at, size, cookie, out) {
    const folder = this.open[fd]?.node;
    if (!(folder instanceof Folder)) { return ENOTDIR; }
    let used = 0, number = 0n;
    for (const [name, node] of folder) {
      if (number++ < cookie) { continue; }
      const bytes = new TextEncoder().encode(name), entry = new Uint8Array(24 + bytes.length), view = new DataView(entry.buffer);
      view.setBigUint64(0, number, true);
      view.setBigUint64(8, node.inode, true);
      view.setUint32(16, bytes.length, true);
      view.setUint8(20, node instanceof Folder ? DIRECTORY : REGULAR);
      entry.set(bytes, 24);
      const part = entry.subarray(0, size - used);
      this.bytes.set(part, at + used);
      used += part.length;
      if (used >= size) { break; }
    }
    return this.number(out, used);
  }

  // --- paths
  find(fd, at, size) {  // -> the folder and the last name of a path, and what has that name
    let folder = this.open[fd]?.node;
    if (!(folder instanceof Folder)) { return {error: EBADF}; }
    const path = decoder.decode(this.bytes.subarray(at, at + size)), names = [];
    for (const part of parts(path)) {
      if (part === "..") { names.pop(); } else if (part !== ".") { names.push(part); }
    }
    if (path.startsWith("/")) { folder = this.open[3].node; }
    for (const name of names.slice(0, -1)) {
      folder = folder.get(name);
      if (!(folder instanceof Folder)) { return {error: folder ? ENOTDIR : ENOENT}; }
    }
    return {folder, name: names.at(-1), node: names.length ? folder.get(names.at(-1)) : folder};
  }
  existing(fd, at, size, use) {
    const found = this.find(fd, at, size);
    return found.error ?? (found.node ? use(found) ?? OK : ENOENT);
  }
  path_filestat_get(fd, flags, at, size, out) { return this.existing(fd, at, size, ({node}) => this.facts({node}, out)); }
  path_filestat_set_times() { return OK; }
  path_open(fd, lookup, at, size, how, rights, inherited, flags, out) {
    const {error, folder, name, node} = this.find(fd, at, size);
    if (error) { return error; }
    if (!node && !(how & CREATE)) { return ENOENT; }
    if (node && how & CREATE && how & EXCLUSIVE) { return EEXIST; }
    if (node && how & IS_DIRECTORY && !(node instanceof Folder)) { return ENOTDIR; }
    const opened = !node || (how & TRUNCATE && node instanceof File) ? new File() : node;
    if (opened !== node) { folder.set(name, opened); }
    let number = 4;
    while (this.open[number]) { ++number; }
    this.open[number] = {node: opened, at: 0, appends: flags & 1};
    return this.number(out, number);
  }
  path_create_directory(fd, at, size) {
    const {error, folder, name, node} = this.find(fd, at, size);
    if (!error && !node) { folder.set(name, new Folder()); }
    return error ?? (node ? EEXIST : OK);
  }
  path_unlink_file(fd, at, size) { return this.existing(fd, at, size, ({folder, name}) => { folder.delete(name); }); }
  path_remove_directory(fd, at, size) { return this.path_unlink_file(fd, at, size); }
  path_rename(fd, at, size, newFd, newAt, newSize) {
    const to = this.find(newFd, newAt, newSize);
    return to.error ?? this.existing(fd, at, size, from => {
      from.folder.delete(from.name);
      to.folder.set(to.name, from.node);
    });
  }
  path_readlink(fd, at, size) { return this.existing(fd, at, size, () => EINVAL); }
  path_link() { return ENOSYS; }
  path_symlink() { return ENOSYS; }
  sock_accept() { return ENOSYS; }
  sock_recv() { return ENOSYS; }
  sock_send() { return ENOSYS; }
  sock_shutdown() { return ENOSYS; }
}

/** Runs a module to its end. -> {code, out, err}: what it printed, as text */
export function run(module, args, root, stdin) {
  const printed = {out: "", err: ""};
  const into = name => {
    const decoder = new TextDecoder();
    return bytes => { printed[name] += decoder.decode(bytes, {stream: true}); };
  };
  const wasi = new Wasi({args, root, stdin, stdout: into("out"), stderr: into("err")});
  return {code: wasi.start(new WebAssembly.Instance(module, wasi.imports)), ...printed};
}
