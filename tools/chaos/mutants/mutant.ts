/** One bug of one line that somebody could write on a tired evening. */
export type Mutant = {
  /** A few words, and its name for `--only`. */
  bug: string;
  /** Below the repository's root. */
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
  /** What it would cost a shop. */
  breaks: string;
  /** Test files, one of which must turn red. */
  tests: readonly string[];
};
