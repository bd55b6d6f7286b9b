// The library's front door: the names most programs need; the rest is behind the subpaths.
export {};
