import type { Toolkit } from '../../../lib/api.ts'

type Icons = NonNullable<Toolkit['tools'][number]['icons']>

/** Picks the displayed icon. `https:` icons are never loaded, because their host would learn who opens the page. */
export const pickIcon = (icons: Icons = []): string | undefined => {
  const embedded = icons.filter(({ src }) => /^data:image\//i.test(src))
  return (embedded.find(({ theme }) => theme === undefined) ?? embedded[0])?.src
}

/** A picture in `<img>` runs no script, SVG included. */
export function ToolIcon({ icons }: { icons: Icons | undefined }) {
  const src = pickIcon(icons)
  if (src === undefined) return null
  return <img src={src} alt="" aria-hidden className="mt-0.5 size-5 shrink-0 rounded-sm object-contain" />
}
