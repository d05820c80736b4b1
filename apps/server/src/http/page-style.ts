/** Colors of server-rendered pages, the same as in the UI, which these pages do not load. */
export const PAGE_COLOURS = `:root {
  color-scheme: light dark;
  --canvas: oklch(0.975 0.004 85);
  --surface: oklch(0.998 0.001 85);
  --line: oklch(0.905 0.006 85);
  --ink: oklch(0.25 0.02 250);
  --ink-muted: oklch(0.47 0.018 250);
  --accent: oklch(0.45 0.095 238);
  --accent-ink: oklch(0.99 0.003 238);
}
@media (prefers-color-scheme: dark) {
  :root {
    --canvas: oklch(0.182 0.008 250);
    --surface: oklch(0.216 0.009 250);
    --line: oklch(0.305 0.011 250);
    --ink: oklch(0.945 0.005 85);
    --ink-muted: oklch(0.76 0.009 250);
    --accent: oklch(0.76 0.09 235);
    --accent-ink: oklch(0.2 0.03 238);
  }
}
`
