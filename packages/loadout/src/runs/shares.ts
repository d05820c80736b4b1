/**
 * Who shares places with others has at most twice as many as are left: alone two thirds of them, and whoever comes next
 * finds room at once. Pure, and the law of runs and of sandboxes.
 */
export const hasShare = (held: number, free: number): boolean => held < 2 * free
