export async function retry(call, attempts) {
  for (let i = 0; ; i++) {
    try {
      return await call();
    } catch (error) {
      if (i === attempts) throw error;
    }
  }
}
