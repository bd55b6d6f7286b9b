export const getRate = () => 0.19;
export const formatRate = () => `${Math.round(100 * getRate())} %`;
