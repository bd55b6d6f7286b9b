export const getRate = () => 19;
export const formatRate = () => `${getRate()} %`;
