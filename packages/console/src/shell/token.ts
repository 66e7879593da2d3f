import { useEffect, useState } from "preact/hooks";

const KEY = "lethe-admin-token";
const changed = new EventTarget();

/** The admin token that was entered in this tab. The browser forgets it when the tab is closed. */
function savedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Keeps the token for this tab, or forgets it. It is in no cookie and in no address. */
export function saveToken(token: string | undefined): void {
  if (token === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
  changed.dispatchEvent(new Event("change"));
}

/** The token of this tab; follows changes. */
export function useToken(): string | undefined {
  const [token, setToken] = useState(savedToken);
  useEffect(() => {
    const follow = (): void => setToken(savedToken());
    changed.addEventListener("change", follow);
    return () => changed.removeEventListener("change", follow);
  }, []);
  return token;
}
