// Images in the results of tools: why a model is not shown one, and the part of a result that holds one.
import type { FilePart, Provider } from '../core/index.ts';
import { unsupportedImageReason, type ImageInfo } from './image.ts';

/** How many images one result shows: the first ones. */
export const maxShownImages = 4;

/** Returns why an image is not shown, as the end of a sentence; undefined if it is. A model without vision would guess, or its server would reject the complete conversation. */
export function notShownReason(
  image: ImageInfo,
  size: number,
  provider: Pick<Provider, 'model' | 'supportsImages'> | undefined,
): string | undefined {
  if (provider?.supportsImages === false) return `${provider.model} does not support images`;
  if (provider?.supportsImages === undefined)
    return `it is not known whether ${provider?.model ?? 'this model'} supports images`;
  return unsupportedImageReason(image, size);
}

/** Creates the part of a result that holds an image. */
export const imageFilePart = (bytes: Uint8Array, { mediaType }: ImageInfo, name: string): FilePart => ({
  type: 'file',
  mediaType,
  data: Buffer.from(bytes).toString('base64'),
  name,
});
