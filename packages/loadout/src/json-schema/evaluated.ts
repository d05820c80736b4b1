/**
 * What the keywords at one place of the value have evaluated, for unevaluatedProperties and unevaluatedItems.
 * Only what a successful schema saw counts; `unsure` says that something undecided may have seen more.
 */
import { type Meter, STEP } from './budget.ts'

export class Evaluated {
  allProperties = false
  allItems = false
  /** Items before this index are seen. */
  itemsUpTo = 0
  incomplete = false
  private readonly properties = new Set<string>()
  private readonly items = new Set<number>()

  property(key: string, meter: Meter): void {
    meter.spend(STEP)
    this.properties.add(key)
  }

  item(index: number, meter: Meter): void {
    meter.spend(STEP)
    this.items.add(index)
  }

  hasProperty(key: string): boolean {
    return this.allProperties || this.properties.has(key)
  }

  hasItem(index: number): boolean {
    return this.allItems || index < this.itemsUpTo || this.items.has(index)
  }

  /** Take over what a schema at the same place saw. */
  add(other: Evaluated, meter: Meter): void {
    meter.spend(STEP * (other.properties.size + other.items.size))
    for (const key of other.properties) this.properties.add(key)
    for (const index of other.items) this.items.add(index)
    this.allProperties ||= other.allProperties
    this.allItems ||= other.allItems
    this.incomplete ||= other.incomplete
    this.itemsUpTo = Math.max(this.itemsUpTo, other.itemsUpTo)
  }
}
