// Sign-in by e-mail and social accounts. Built with WaaP's own package by `python -m infra.waap`, loaded by a click.
import { initWaaP } from "@human.tech/waap-sdk";

const isDark = (theme) => theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
let ready;

/** Lets the person sign in there; what it gives is asked to sign as any wallet is (EIP-1193). */
export async function connect({ methods, socials, theme, title, name }) {
  ready ??= initWaaP({
    config: { authenticationMethods: methods, allowedSocials: socials, styles: { darkMode: isDark(theme) } },
    project: { name, entryTitle: title },
  });
  await window.waap.login();
  return window.waap;
}
