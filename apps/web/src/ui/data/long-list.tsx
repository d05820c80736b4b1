/** Virtualized scrolling list. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type Ref, useLayoutEffect, useRef } from 'react'
import { cn } from '../cn.ts'
import { ScrollRegion } from '../layout/scroll-region.tsx'
import { counted } from './format-time.ts'

/** Attributes of a row's `li`. */
export interface RowPosition {
  ref: Ref<HTMLLIElement>
  'data-index': number
  'aria-setsize': number
  'aria-posinset': number
}

interface LongListProps<Item> {
  items: readonly Item[]
  /** Singular noun of an item. */
  noun: string
  label?: string
  keyOf: (item: Item) => string
  /** Approximate row height in px. */
  rowPx: number
  /** Row to scroll to; -1 for none. */
  wanted: { index: number; align: 'start' | 'center' }
  className: string
  rows?: string
  children: (item: Item, key: string, position: RowPosition) => ReactNode
}

export function LongList<Item>({ items, noun, label, keyOf, rowPx, wanted, className, ...rest }: LongListProps<Item>) {
  const region = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => keyAt(index),
    overscan: 6,
  })
  const keyAt = (index: number) => (items[index] === undefined ? String(index) : keyOf(items[index]))
  const { index: first, align } = wanted
  useLayoutEffect(() => {
    if (first >= 0) list.scrollToIndex(first, { align })
  }, [list, first, align])
  const drawn = list.getVirtualItems()
  return (
    <ScrollRegion
      ref={region}
      label={`${counted(items.length, noun)}, scrolling`}
      className={cn('overflow-y-auto', className)}
    >
      <div style={{ height: list.getTotalSize() }} className="relative">
        <ul
          aria-label={label}
          className={cn('absolute inset-x-0 top-0', rest.rows)}
          style={{ transform: `translateY(${drawn[0]?.start ?? 0}px)` }}
        >
          {drawn.map(({ index }) => {
            const item = items[index]
            if (item === undefined) return null
            const position = { 'data-index': index, 'aria-setsize': items.length, 'aria-posinset': index + 1 }
            return rest.children(item, keyAt(index), { ref: list.measureElement, ...position })
          })}
        </ul>
      </div>
    </ScrollRegion>
  )
}
