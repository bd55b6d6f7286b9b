// An empty module: what importing nothing costs.
export {};
